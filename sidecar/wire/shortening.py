"""Long text, cut to what a line has room for."""

from __future__ import annotations


def shortened(text: str, limit: int) -> str:
    """Cut text that is longer than `limit` characters; an ellipsis says so."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
