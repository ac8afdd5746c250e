"""Which POST a message of the server's belongs to.

Over HTTP each request has a response of its own, behind it there is one stream of lines
for all. Ids tell them apart, so an id that is in flight already is respelt on its way to
the server, and back on the way to the client (J05). All others pass as they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from sidecar.cassette.subscriptions import subscription_id
from sidecar.proxy.http.bridge.mailbox import Mailbox
from sidecar.wire.json_text import join
from sidecar.wire.jsonrpc import IdKey, Message, id_key
from sidecar.wire.mcp import (
    CANCELLED,
    LISTEN,
    META_SUBSCRIPTION,
    PROGRESS,
    members_of,
    progress_token,
)

_FORSAKEN = 1000  # requests that nobody waits for, whose late answer still has to be known


class Post(Mailbox):
    """One POST, and what goes back on its response.

    Attributes:
        open: How many of its requests are still to be answered.
    """

    def __init__(self) -> None:
        super().__init__()
        self.open = 0

    def settle(self) -> None:
        """Take it that one of its requests is done; at the last one, it ends."""
        self.open -= 1
        if self.open <= 0:
            self.end()


class Asked:
    """A request in flight.

    Attributes:
        post: The POST that carried it.
        method: Its method.
        own: The text of its id, as the client spelt it.
        sent: As the server knows it.
        own_token: The text of its progress token, as the client spelt it; or None.
        sent_token: As the server knows it.
    """

    __slots__ = ("method", "own", "own_token", "post", "sent", "sent_token")

    def __init__(self, message: Message, post: Post) -> None:
        self.post = post
        self.method = message.method
        self.own = self.sent = message.id or "null"
        self.own_token = self.sent_token = progress_token(message.params)


class InFlight:
    """The requests of one session that wait for their answers."""

    def __init__(self) -> None:
        self._by_id: dict[IdKey, Asked] = {}  # oldest first
        self._by_token: dict[IdKey, Asked] = {}
        self._forsaken: deque[Asked] = deque()
        self._minted = 0

    def ask(self, message: Message, line: bytes, post: Post) -> bytes:
        """Take a request; return the line that the server gets."""
        asked = Asked(message, post)
        if id_key(asked.own) in self._by_id:
            asked.sent = self._minted_id()
        self._by_id[id_key(asked.sent)] = asked
        if asked.own_token is not None:
            if id_key(asked.own_token) in self._by_token:
                asked.sent_token = self._minted_id()
            self._by_token[id_key(asked.sent_token)] = asked
        if asked.sent == asked.own and asked.sent_token == asked.own_token:
            return line
        return _respelt(message, asked)

    def answered(self, message: Message) -> Asked | None:
        """Find, and let go, the request that a response answers; None if it answers none."""
        asked = self._by_id.get(id_key(message.id))
        if asked is not None:
            self._let_go(asked)
        return asked

    def addressee(self, message: Message) -> Asked | None:
        """Find the request that a notification names: by a token, or by an id."""
        found = members_of(message.params)
        if message.method == PROGRESS:
            return self._by_token.get(id_key(found.get("progressToken")))
        ident = found.get("requestId") if message.method == CANCELLED else None
        ident = ident or subscription_id(message.params)
        return None if ident is None else self._by_id.get(id_key(ident))

    def cancelled(self, message: Message) -> tuple[Asked | None, bytes | None]:
        """Find the request that the client takes back, and the line if it is respelt."""
        found = members_of(message.params)
        wanted = id_key(found.get("requestId"))
        named = (asked for asked in self._by_id.values() if id_key(asked.own) == wanted)
        asked = next((one for one in named if not one.post.ended), None)
        if asked is None or asked.sent == asked.own:
            return asked, None
        whole = members_of(message.text)
        whole["params"] = join({**found, "requestId": asked.sent})
        return asked, join(whole).encode() + b"\n"

    def of(self, post: Post) -> list[Asked]:
        """List the requests of a POST that are still open."""
        return [asked for asked in self._by_id.values() if asked.post is post]

    def all(self) -> list[Asked]:
        """List all requests in flight, oldest first."""
        return list(self._by_id.values())

    def open_posts(self) -> list[Post]:
        """List the POSTs that wait for an answer, newest first; listens wait for none."""
        return list(dict.fromkeys(self._waiting()))

    def forsake(self, asked: Asked) -> None:
        """Take it that nobody waits for an answer; its id stays taken, a late one may come."""
        self._forsaken.append(asked)
        if len(self._forsaken) > _FORSAKEN:
            self._let_go(self._forsaken.popleft())

    def _waiting(self) -> Iterator[Post]:
        for asked in reversed(self._by_id.values()):
            if asked.method != LISTEN and not asked.post.ended:
                yield asked.post

    def _let_go(self, asked: Asked) -> None:
        key = id_key(asked.sent)
        if self._by_id.get(key) is asked:
            del self._by_id[key]
        token = id_key(asked.sent_token)
        if self._by_token.get(token) is asked:
            del self._by_token[token]

    def _minted_id(self) -> str:
        self._minted += 1
        return f'"sidecar-http-{self._minted}"'


def restored(message: Message, line: bytes, asked: Asked) -> bytes:
    """Give a message of the server's the ids that the client knows."""
    if asked.sent == asked.own and asked.sent_token == asked.own_token:
        return line
    found = members_of(message.text)
    if message.kind == "response":
        found["id"] = asked.own
    for member in ("params", "result"):
        if member in found:
            found[member] = _with_own_ids(message, found[member], asked)
    return join(found).encode() + b"\n"


def _with_own_ids(message: Message, text: str, asked: Asked) -> str:
    found = members_of(text)
    if message.method == PROGRESS and asked.own_token is not None:
        return join({**found, "progressToken": asked.own_token})
    if message.method == CANCELLED:
        return join({**found, "requestId": asked.own})
    if asked.method != LISTEN or subscription_id(text) is None:
        return text
    meta = {**members_of(found["_meta"]), META_SUBSCRIPTION: asked.own}
    return join({**found, "_meta": join(meta)})


def _respelt(message: Message, asked: Asked) -> bytes:
    found = members_of(message.text)
    found["id"] = asked.sent
    if asked.sent_token is not None:
        params = members_of(message.params)
        meta = {**members_of(params["_meta"]), "progressToken": asked.sent_token}
        found["params"] = join({**params, "_meta": join(meta)})
    return join(found).encode() + b"\n"
