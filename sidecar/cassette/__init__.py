"""Interactions: recorded, kept as one text file, matched, replayed. Pure."""
