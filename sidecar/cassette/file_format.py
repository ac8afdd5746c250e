"""The cassette file: UTF-8, one JSON object a line, a newline after each.

First line: `{"cassette":1,"run":...,"servers":{...},"complete":true}`. Then a line an
interaction: `server`, `request`, `response`, `httpStatus` (only where it is not the one that
the protocol prescribes), `session` (only where not 0), `argsMatch` (only where not `exact`),
`during`, `after` (each only where something came). An item of `during` and `after` is
`{"notification":{"method","params"}}`, `{"request":{"method","params"},"response":...}`,
or, where the client took the request back, `{"cancelled":true}`.

Params, results and errors stand in the file as they were spelt on the wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sidecar.cassette.arguments import ArgsMatch
from sidecar.cassette.interaction import Cassette, Interaction, Passage, Response, Server
from sidecar.errors import CassetteError
from sidecar.wire.json_text import NotJsonError, dump, elements, members, parse
from sidecar.wire.typed import NamedTuple

VERSION = 1
_STATUS_DIGITS = 3
_SESSION_DIGITS = 9  # more would be no count of sessions
_CONFLICT_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>")
_ARGS_MATCHES: tuple[ArgsMatch, ...] = ("exact", "subset", "ignore")


class Loaded(NamedTuple):
    """A cassette and what its reader should be told.

    Attributes:
        cassette: What the file holds.
        warnings: Sentences for the user: a last line dropped, unknown lines skipped.
    """

    cassette: Cassette
    warnings: tuple[str, ...]


def lines(cassette: Cassette) -> Iterator[str]:
    """Write a cassette line by line, each with its newline; equal cassettes have equal lines."""
    yield header_line(cassette)
    unknown = iter(cassette.unknown)
    place, text = next(unknown, (-1, ""))
    for index, interaction in enumerate(cassette.interactions):
        while place == index:
            yield text + "\n"
            place, text = next(unknown, (-1, ""))
        yield interaction_line(interaction)
    while place >= 0:
        yield text + "\n"
        place, text = next(unknown, (-1, ""))


def header_line(cassette: Cassette) -> str:
    """Write the first line, with its newline."""
    run = {} if cassette.run is None else {"run": cassette.run}
    servers = {
        name: {"protocol": server.protocol} if server.protocol else {}
        for name, server in cassette.servers.items()
    }
    head = {"cassette": VERSION, **run, "servers": servers, "complete": cassette.complete}
    return dump(head) + "\n"


def interaction_line(interaction: Interaction) -> str:
    """Write one interaction, with its newline."""
    request = _call_text(interaction.method, interaction.params)
    parts = [
        f'"server":{dump(interaction.server)}',
        f'"request":{request}',
        f'"response":{_response_text(interaction.response)}',
    ]
    if interaction.http_status is not None:
        parts.append(f'"httpStatus":{interaction.http_status}')
    if interaction.session:
        parts.append(f'"session":{interaction.session}')
    if interaction.args_match != "exact":
        parts.append(f'"argsMatch":"{interaction.args_match}"')
    during = passages_text(interaction.during, cancelled=interaction.cancelled)
    if during != "[]":
        parts.append(f'"during":{during}')
    if interaction.after:
        parts.append(f'"after":{passages_text(interaction.after)}')
    # A line break can only be white space between JSON tokens: within strings it is escaped.
    return "{" + ",".join(parts).replace("\n", " ") + "}\n"


def passages_text(passages: Iterable[Passage], *, cancelled: bool = False) -> str:
    """Write the items of `during` or `after` as a JSON array."""
    items = [_passage_text(passage) for passage in passages]
    if cancelled:
        items.append('{"cancelled":true}')
    return "[" + ",".join(items) + "]"


def _passage_text(passage: Passage) -> str:
    call = _call_text(passage.method, passage.params)
    if not passage.asked:
        return f'{{"notification":{call}}}'
    return f'{{"request":{call},"response":{_response_text(passage.reply)}}}'


def _call_text(method: str, params: str | None) -> str:
    rest = "" if params is None else f',"params":{params}'
    return f'{{"method":{dump(method)}{rest}}}'


def _response_text(response: Response | None) -> str:
    return "null" if response is None else f'{{"{response.member}":{response.text}}}'


def read(data: bytes, place: str) -> Loaded:
    """Read a cassette file.

    Args:
        data: The whole file.
        place: The file's name, for errors.

    Raises:
        CassetteError: With file and line, if the file is empty, foreign, newer, or broken
            anywhere but in its last line.
    """
    if not data.strip():
        raise CassetteError("the file is empty", place=place, hint="record it again, or restore it")
    raw = data.split(b"\n")
    while not raw[-1].strip():
        raw.pop()
    return _Reader(place, raw).read()


class _Reader:
    def __init__(self, place: str, raw: list[bytes]) -> None:
        self._place = place
        self._raw = raw
        self._warnings: list[str] = []

    def read(self) -> Loaded:
        head = self._header()
        interactions: list[Interaction] = []
        unknown: list[tuple[int, str]] = []
        complete = head.complete
        for number, raw in enumerate(self._raw[1:], start=2):
            found = self._line(number, raw)
            if found is None:
                complete = False
            elif isinstance(found, str):
                unknown.append((len(interactions), found))
            else:
                interactions.append(found)
        if unknown:
            self._warnings.append(
                f"{self._place}: {len(unknown)} lines of an unknown kind are kept, not used"
            )
        cassette = head._replace(
            interactions=tuple(interactions), complete=complete, unknown=tuple(unknown)
        )
        return Loaded(cassette, tuple(self._warnings))

    def _header(self) -> Cassette:
        found = self._members(1, self._raw[0])
        version = found.get("cassette", "")
        if not version.isdigit() or version == "0":
            raise self._error(1, "this is no cassette: its first line has no `cassette` member")
        if version != str(VERSION):
            raise self._error(
                1,
                f"format {version} is newer than this version reads ({VERSION})",
                hint="upgrade mcp-sidecar",
            )
        run = _string(found.get("run"))
        if run is None and found.get("run", "null") != "null":
            raise self._error(1, "`run` is no string")
        return Cassette((), self._servers(found), found.get("complete") == "true", run)

    def _servers(self, found: dict[str, str]) -> dict[str, Server]:
        servers = members(found.get("servers", "{}"))
        if servers is None:
            raise self._error(1, "`servers` is no object")
        return {name: _server(text) for name, text in servers.items()}

    def _line(self, number: int, raw: bytes) -> Interaction | str | None:
        """Read one line: an interaction, the text of an unknown kind, or None if dropped."""
        try:
            found = self._members(number, raw)
        except CassetteError:
            if number < len(self._raw) or raw.startswith(_CONFLICT_MARKS):
                raise
            self._warnings.append(
                f"{self._place}:{number}: the last line is broken and was dropped; "
                "the file was cut off while it was written"
            )
            return None
        if "request" not in found:
            return raw.decode()
        try:
            return read_interaction(found)
        except NotJsonError as error:
            raise self._error(number, str(error)) from None

    def _members(self, number: int, raw: bytes) -> dict[str, str]:
        try:
            found = members(raw.decode())
        except UnicodeDecodeError:
            raise self._error(number, "not UTF-8 text") from None
        except NotJsonError:
            raise self._error(number, _broken(raw)) from None
        if found is None:
            raise self._error(number, "not a JSON object")
        return found

    def _error(self, line: int, problem: str, hint: str = "") -> CassetteError:
        return CassetteError(
            problem,
            place=f"{self._place}:{line}",
            hint=hint or "restore the file, or record it again; it was left as it is",
        )


def _broken(raw: bytes) -> str:
    if raw.startswith(_CONFLICT_MARKS):
        return "a merge conflict is left in the file"
    return "the line is not JSON"


def _server(text: str) -> Server:
    return Server(_string((members(text) or {}).get("protocol")) or "")


def _string(text: str | None) -> str | None:
    # By its quote: `parse` gives numbers as a kind of str, too.
    return str(parse(text)) if text and text[0] == '"' else None


def read_interaction(found: dict[str, str]) -> Interaction:
    """Read an interaction from its line's members.

    Raises:
        NotJsonError: With what is wrong, if the line has not the format's shape.
    """
    method, params = _call(found["request"], "request")
    server = _string(found.get("server"))
    if server is None:
        raise NotJsonError("`server` is missing or no string")
    if "response" not in found:
        raise NotJsonError("`response` is missing; where nothing answered it is null")
    during, cancelled = read_passages(found.get("during", "[]"))
    after, _ = read_passages(found.get("after", "[]"))
    return Interaction(
        server,
        method,
        params,
        _response(found["response"]),
        _args_match(found),
        during,
        after,
        cancelled,
        _http_status(found.get("httpStatus")),
        _session(found.get("session", "0")),
    )


def _http_status(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isdigit() and len(text) == _STATUS_DIGITS):
        raise NotJsonError("`httpStatus` is no HTTP status")
    return int(text)


def _session(text: str) -> int:
    if not (text.isdigit() and len(text) <= _SESSION_DIGITS):
        raise NotJsonError("`session` is no number of a session, which is 0 or more")
    return int(text)


def _args_match(found: dict[str, str]) -> ArgsMatch:
    wanted = _string(found.get("argsMatch", '"exact"'))
    for known in _ARGS_MATCHES:
        if wanted == known:
            return known
    raise NotJsonError(f"`argsMatch` is none of {', '.join(_ARGS_MATCHES)}")


def _call(text: str, name: str) -> tuple[str, str | None]:
    found = members(text)
    method = _string((found or {}).get("method"))
    if found is None or method is None:
        raise NotJsonError(f"`{name}` has no `method` that is a string")
    return method, found.get("params")


def _response(text: str) -> Response | None:
    if text == "null":
        return None
    found = members(text)
    if found is None or len(found) != 1 or not found.keys() <= {"result", "error"}:
        raise NotJsonError("`response` holds exactly one of `result` and `error`, or is null")
    if "result" in found:
        return Response("result", found["result"])
    return Response("error", found["error"])


def read_passages(text: str) -> tuple[tuple[Passage, ...], bool]:
    """Read the items of `during` or `after`, and whether one says `cancelled`.

    Items of unknown kinds are skipped.

    Raises:
        NotJsonError: If the text has not the format's shape.
    """
    items = elements(text)
    if items is None:
        raise NotJsonError("`during` and `after` are arrays")
    passages: list[Passage] = []
    cancelled = False
    for item in items:
        found = members(item) or {}
        if "notification" in found:
            passages.append(Passage(*_call(found["notification"], "notification")))
        elif "request" in found:
            reply = _response(found.get("response", "null"))
            passages.append(Passage(*_call(found["request"], "request"), asked=True, reply=reply))
        cancelled = cancelled or found.get("cancelled") == "true"
    return tuple(passages), cancelled
