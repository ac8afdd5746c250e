"""HTTP in front, lines behind: sessions, exchanges, and what becomes of each message."""
