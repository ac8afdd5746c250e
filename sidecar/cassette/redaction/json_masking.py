"""Walks one JSON value, or one text, and masks the secrets that are in it.

A walk is made only for a text in which something was found, and looks only for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sidecar.cassette.redaction.commands import in_words
from sidecar.cassette.redaction.json_layout import (
    in_white_space_of,
    layout_of,
    may_be_json,
    read,
    write,
)
from sidecar.cassette.redaction.json_schemas import MAPS, WHOLE, is_map_of_schemas, is_schema
from sidecar.cassette.redaction.kubernetes import is_secret_object
from sidecar.cassette.redaction.layouts import is_password
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.marks import JWK_MEMBERS
from sidecar.cassette.redaction.masking import Place
from sidecar.cassette.redaction.message_data import in_data, is_identifier
from sidecar.cassette.redaction.names import (
    CREDENTIALS,
    FOLDERS,
    MIN_TOKEN_NUMBER,
    NUMBER_TOKENS,
    NameKind,
    folded,
    is_own,
    name_kind,
    typed_kind,
)
from sidecar.cassette.redaction.pairs import in_items
from sidecar.cassette.redaction.sought import Named, Part, Sought
from sidecar.cassette.redaction.tables import secret_columns
from sidecar.cassette.redaction.text_masking import PROTOCOL_PREFIX, TextMasks
from sidecar.cassette.redaction.values import (
    Evidence,
    is_code,
    is_credential,
    is_masked,
    is_secret,
    looks_random,
    scheme_chars,
)
from sidecar.wire.json_text import JsonValue

# Members that the protocol owns; their values are nobody's secrets.
_PROTOCOL = frozenset(("progressToken", "traceparent", "tracestate"))
_CONTENT = frozenset(("data", "blob"))
_LABELS = ("name", "key", "Name", "Key")
_HEADS = ("columns", "fields", "headers")
_MIN_NUMBER = 100  # smaller ones are no passwords
_LARGE_CHARS = 524288  # from here on, secrets are masked where they stand if that will do
_ABSOLUTE = r"[/~]|[A-Za-z]:\\|\\\\"
Handle: TypeAlias = Callable[[JsonValue, dict[str, JsonValue]], JsonValue]
"""Masks a member's value, given its object too."""


def _usual(item: JsonValue, _: dict[str, JsonValue]) -> JsonValue:
    """Stand for the usual walk among the handles; never called."""
    return item  # pragma: no cover


_NO_NAME = Named(NameKind.NONE, "")
_ALL = Named(NameKind.DEEP, "secrets")


class Sweep(TextMasks):
    """One walk through one text, read as JSON where it is JSON.

    Args of the constructor:
        sought: What is looked for.
        place: Makes the placeholder of a secret.
    """

    def __init__(self, sought: Sought, place: Place) -> None:
        super().__init__(sought, place)
        self._gates = {
            part: tuple(gate for finder in finders for gate in finder.gates)
            for part, finders in self._finders.items()
        }
        self._handles: dict[Part, dict[str, Handle]] = {part: {} for part in Part}
        self._new_names: dict[str, str] = {}
        self._by_neighbour: dict[str, Handle] = {
            "value": self._labelled,
            "Value": self._labelled,
            "text": self._typed,
            "args": self._arguments,
            "argv": self._arguments,
            "rows": self._rows,
            "val": self._labelled,
            "stringData": self._objects_data,
            "pw": self._password,
            **dict.fromkeys(JWK_MEMBERS, self._key_member),
        }

    def json_text(self, text: str) -> str:
        """Mask the secrets of a JSON text; the same object if there are none."""
        spliced = self.spliced(text) if len(text) >= _LARGE_CHARS else None
        if spliced is not None:
            return spliced
        try:
            value, mark = read(text)
            masked = self._value(value, Part.PLAIN)
            return text if masked is value else write(masked, mark)
        except (ValueError, RecursionError):
            return self.plain(text, Part.PLAIN)

    def json_data(self, text: str) -> str:
        """Mask the secrets in the data of a message, a JSON text; see `message_data`."""
        try:
            value, mark = read(text)
            masked = in_data(value, lambda item: self._value(item, Part.PLAIN))
            return text if masked is value else write(masked, mark)
        except (ValueError, RecursionError):
            return self.plain(text, Part.PLAIN)

    def text(self, text: str, part: Part = Part.PLAIN) -> str:
        """Mask the secrets of a string, which may be JSON; the same object if there are none."""
        for gate in self._gates[part]:
            if gate in text:
                break
        else:
            return text
        if part is Part.BINARY or not may_be_json(text):
            return self.plain(text, part)
        try:
            value, mark = read(text)
            masked = self._value(value, part)
            if masked is value:
                return text
            return in_white_space_of(text, write(masked, mark, layout_of(text)))
        except (ValueError, RecursionError):
            return self.plain(text, part)

    def _value(self, value: JsonValue, part: Part) -> JsonValue:
        kind = type(value)
        if kind is str:
            # The test of `text` first: nearly all strings are done with here.
            for gate in self._gates[part]:
                if gate in value:
                    return self.text(value, part)
        elif kind is dict:
            return self._object(value, part)
        elif kind is list:
            return self._array(value, part)
        elif kind is int and self._sought.numbers and str(value) in self._sought.numbers:
            return self._zero()
        return value

    def _zero(self) -> int:
        self.masked += 1
        return 0

    def _array(self, value: list[JsonValue], part: Part) -> list[JsonValue]:
        if self._sought.commands and part is Part.PLAIN:
            value = self._command_line(value)
        if self._sought.pairs and part is Part.PLAIN:
            value = self._paired(value)
        changed: list[JsonValue] | None = None
        flag = _NO_NAME
        for index, item in enumerate(value):
            new = self._secret(item, flag) if flag.kind else self._value(item, part)
            if new is not item:
                changed = changed if changed is not None else list(value)
                changed[index] = new
            flag = self._flag(item, part)
        return value if changed is None else changed

    def _flag(self, item: JsonValue, part: Part) -> Named:
        """Tell whether the next item of a command line is a secret: `["--api-key", "S"]`."""
        is_flag = type(item) is str and item.startswith("--") and "=" not in item
        return self._named(item.lstrip("-")) if is_flag and part is Part.PLAIN else _NO_NAME

    def _command_line(self, words: list[JsonValue], command: str = "") -> list[JsonValue]:
        """Mask what a list's command says of its words: `["mysql", "-pS"]`."""
        own = [command] if command else []
        own += [word for word in words if type(word) is str]
        if len(own) - bool(command) != len(words):
            return words
        masked: list[JsonValue] = list(own)
        for index, start in in_words(own):
            masked[index] = own[index][:start] + self.placed(own[index][start:])
        return masked[bool(command) :] if masked != own else words

    def _paired(self, items: list[JsonValue]) -> list[JsonValue]:
        """Mask the items that are secrets by the item before them: `["X-Api-Key", "S"]`."""
        found = list(in_items(items))
        masked = list(items) if found else items
        for index in found:
            masked[index] = self.placed(str(items[index]))
        return masked

    def _named(self, name: str) -> Named:
        if self._sought.names is None:
            return _NO_NAME
        kind = name_kind(name)
        if not kind and folded(name) in self._sought.names:
            kind = NameKind.ANY
        return Named(kind, name)

    def _object(self, value: dict[str, JsonValue], part: Part) -> dict[str, JsonValue]:
        handles = self._handles[part]
        changed: dict[str, JsonValue] | None = None
        for name, item in value.items():
            handle = handles.get(name) or self._prepared(name, part)
            new = self._value(item, part) if handle is _usual else handle(item, value)
            if new is not item:
                changed = changed if changed is not None else dict(value)
                changed[name] = new
        result = value if changed is None else changed
        if not self._new_names or part is Part.SCHEMA or self._new_names.keys().isdisjoint(result):
            return result
        return {self._new_names.get(name, name): item for name, item in result.items()}

    def _prepared(self, name: str, part: Part) -> Handle:
        """Look at a name that is new: is it a secret itself, and does it tell of one?"""
        handle = self._handle(name) if part is Part.PLAIN else None
        self._handles[part][name] = handle or _usual
        if part is Part.PLAIN and not (self._sought.keeps and is_identifier(name)):
            masked = self.text(name, part)
            if masked is not name:
                self._new_names[name] = masked
                self.touching = True  # the name that is left may tell of a secret
        return handle or _usual

    def _handle(self, name: str) -> Handle | None:
        """Choose what masks the values of members of a name."""
        if name in _PROTOCOL or name.startswith(PROTOCOL_PREFIX):
            return lambda item, _: item
        if name in WHOLE:
            return lambda item, _: self._value(item, Part.SCHEMA)
        if name in MAPS:
            return self._map
        if name in _CONTENT:
            return self._content
        return self._secret_handle(name)

    def _secret_handle(self, name: str) -> Handle | None:
        named = self._named(name)
        if folded(name) in FOLDERS:
            return lambda item, _: self._folder(item, named)
        if named.kind is not NameKind.NONE:
            return lambda item, _: self._secret(item, named)
        return self._by_neighbour.get(name)

    def _map(self, item: JsonValue, _: dict[str, JsonValue]) -> JsonValue:
        return self._value(item, Part.SCHEMA if is_map_of_schemas(item) else Part.PLAIN)

    def _content(self, item: JsonValue, parent: dict[str, JsonValue]) -> JsonValue:
        if type(item) is dict:
            return self._objects_data(item, parent)
        is_content = type(item) is str and "mimeType" in parent
        return self._value(item, Part.BINARY if is_content else Part.PLAIN)

    def _labelled(self, item: JsonValue, parent: dict[str, JsonValue]) -> JsonValue:
        """Mask the `value` beside a `name`: `{"name": "API_KEY", "value": "S"}`."""
        labels = (parent[label] for label in _LABELS if type(parent.get(label)) is str)
        named = max(map(self._named, labels), default=_NO_NAME)
        if not named.kind and type(item) is str and looks_random(item):
            field = parent.get("field")  # of a report on a form, the value may be what is wrong
            found = self._named(field) if type(field) is str else _NO_NAME
            named = found if found.kind >= NameKind.TEXT else _NO_NAME
        return self._secret(item, named) if named.kind else self._value(item, Part.PLAIN)

    def _typed(self, item: JsonValue, parent: dict[str, JsonValue]) -> JsonValue:
        """Mask what is typed into a field: `{"element": "Password field", "text": "S"}`."""
        element = parent.get("element")
        kind = typed_kind(element) if type(element) is str else NameKind.NONE
        named = Named(kind, "") if self._sought.names is not None else _NO_NAME
        return self._secret(item, named) if named.kind else self._value(item, Part.PLAIN)

    def _objects_data(self, item: JsonValue, parent: dict[str, JsonValue]) -> JsonValue:
        """Mask all values of a Kubernetes object of kind Secret."""
        if type(item) is dict and is_secret_object(parent):
            return self._secret(item, _ALL)
        return self._value(item, Part.PLAIN)

    def _arguments(self, item: JsonValue, parent: dict[str, JsonValue]) -> JsonValue:
        command = parent.get("command") or parent.get("cmd")
        if self._sought.commands and type(item) is list and type(command) is str:
            item = self._command_line(item, command)
        return self._value(item, Part.PLAIN)

    def _rows(self, item: JsonValue, parent: dict[str, JsonValue]) -> JsonValue:
        """Mask the columns whose heads name secrets: `{"columns": […], "rows": [[…], …]}`."""
        heads = next((parent[name] for name in _HEADS if name in parent), None)
        columns = secret_columns(heads) if self._sought.tables and type(heads) is list else []
        if columns and type(item) is list:
            rows = [self._row(row, columns) if type(row) is list else row for row in item]
            item = rows if rows != item else item
        return self._value(item, Part.PLAIN)

    def _password(self, item: JsonValue, _: dict[str, JsonValue]) -> JsonValue:
        is_one = type(item) is str and is_password(item)
        return self.placed(item) if is_one and type(item) is str else self._value(item, Part.PLAIN)

    def _key_member(self, item: JsonValue, parent: dict[str, JsonValue]) -> JsonValue:
        """Mask the private members of a JSON Web Key."""
        if type(item) is str and "kty" in parent and not is_masked(item):
            return self.placed(item)
        return self._value(item, Part.PLAIN)

    def _row(self, row: list[JsonValue], columns: list[tuple[int, str]]) -> list[JsonValue]:
        masked = list(row)
        for place, name in columns:
            if place < len(row):
                masked[place] = self._secret(row[place], Named(name_kind(name), name))
        return masked

    def _folder(self, item: JsonValue, named: Named) -> JsonValue:
        is_path = type(item) is str and compiled(_ABSOLUTE).match(item)
        return self._value(item, Part.PLAIN) if is_path else self._secret(item, named)

    def _secret(self, item: JsonValue, named: Named) -> JsonValue:
        """Mask a value whose name says that it is a secret."""
        if type(item) is str:
            return self._secret_text(item, named)
        if type(item) is int and _is_secret_number(item, named):
            return self._zero()
        if type(item) is list:
            return self._secret_items(item, named)
        if type(item) is dict:
            return self._secret_object(item, named)
        return self._value(item, Part.PLAIN)

    def _secret_text(self, text: str, named: Named) -> JsonValue:
        if not is_secret(text, named.name, named.kind, Evidence.MEMBER):
            return self._value(text, Part.PLAIN)
        start = scheme_chars(text)
        return text[:start] + self.placed(text[start:])

    def _secret_items(self, items: list[JsonValue], named: Named) -> list[JsonValue]:
        masked = [self._secret(item, named) for item in items]
        same = all(new is item for new, item in zip(masked, items, strict=True))
        return items if same else masked

    def _secret_object(self, value: dict[str, JsonValue], named: Named) -> JsonValue:
        """Mask what an object under a secret's name says of it; a schema says nothing."""
        if is_schema(value):
            return self._value(value, Part.SCHEMA)
        inner = Named(max(named.kind, NameKind.WEAK), "")
        own = {
            name: self._secret_text(item, inner)
            for name, item in value.items()
            if type(item) is str and is_own(name, named.kind)
        }
        if folded(named.name) in CREDENTIALS:
            own |= {
                name: self.placed(item)
                for name, item in value.items()
                if type(item) is str and name not in own and is_credential(name, item)
            }
        if any(own[name] is not value[name] for name in own):
            value = {**value, **own}
        return self._object(value, Part.PLAIN)


def _is_secret_number(number: int, named: Named) -> bool:
    if named.kind is NameKind.CODE:
        return is_code(str(number), named.name)
    if folded(named.name) in NUMBER_TOKENS:
        return abs(number) >= MIN_TOKEN_NUMBER
    return named.kind is NameKind.ANY and abs(number) >= _MIN_NUMBER
