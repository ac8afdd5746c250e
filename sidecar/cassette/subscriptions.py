"""Messages of a `subscriptions/listen` (2026-07-28) and the id of the one they belong to.

Such messages carry the request's id. A recording keeps its place among the session's
listens instead, from 0, since ids are never kept; a replay puts the client's id there.
"""

from __future__ import annotations

from sidecar.wire.json_text import join
from sidecar.wire.jsonrpc import id_key
from sidecar.wire.mcp import META_SUBSCRIPTION, members_of


class Subscriptions:
    """The `subscriptions/listen` requests of one session."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}  # by place, both as JSON texts; the open ones
        self._count = 0

    def opened(self, ident: str, place: str | None = None) -> None:
        """Take one more listen.

        Args:
            ident: The JSON text of its id.
            place: Its place in the recording that is replayed; None for the next one.
        """
        place = str(self._count) if place is None else place
        self._ids.pop(place, None)  # the newest is the last
        self._ids[place] = ident
        self._count += 1

    def closed(self, ident: str | None) -> None:
        """Take the end of the listen that has this id, if one has."""
        place = self.place_of(ident)
        if place is not None:
            del self._ids[place]

    def place_of(self, ident: str | None) -> str | None:
        """Find the place of the newest open listen with this id, or None."""
        wanted = id_key(ident)
        newest_first = reversed(self._ids.items())
        return next((place for place, known in newest_first if id_key(known) == wanted), None)

    def id_at(self, place: str | None) -> str | None:
        """Find the id of the open listen at a place, or None."""
        return self._ids.get(place or "")

    def recorded(self, text: str) -> str:
        """Write a place for the id in a message's params or result.

        The same text comes back if it has none; the id of an unknown listen is left out.
        """
        ident = subscription_id(text)
        if ident is None:
            return text
        return _stamped(text, self.place_of(ident))

    def replayed(self, text: str) -> str | None:
        """Write the client's id for a place; None if the client does not listen there."""
        place = subscription_id(text)
        if place is None:
            return text
        ident = self.id_at(place)
        return None if ident is None else _stamped(text, ident)


def subscription_id(text: str | None) -> str | None:
    """Find the JSON text of the listen's id in a message's params or result, or None."""
    if text is None or META_SUBSCRIPTION not in text:
        return None
    return members_of(members_of(text).get("_meta")).get(META_SUBSCRIPTION)


def _stamped(text: str, ident: str | None) -> str:
    found = members_of(text)
    meta = members_of(found.pop("_meta"))
    del meta[META_SUBSCRIPTION]
    if ident is not None:
        meta[META_SUBSCRIPTION] = ident
    return join({**found, "_meta": join(meta)} if meta else found)
