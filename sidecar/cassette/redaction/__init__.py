"""Secrets: how they are told, and what stands in their place in all that is kept."""
