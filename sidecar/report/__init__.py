"""What a person or a CI job reads: terminal text, tables, progress."""
