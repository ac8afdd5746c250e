"""HTTP in front, HTTP behind: what passes is passed as it came, and a copy is studied."""
