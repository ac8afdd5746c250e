"""HTTP in front, lines behind: sessions, POSTs, and what becomes of each message."""
