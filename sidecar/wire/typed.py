"""What a proxy's start takes from `typing`, which costs more to import than all of `wire`.

To a type checker all this is what `typing` has. At run time `NamedTuple` is one of our own:
that of `typing` takes a third of a millisecond for each class, since it reads annotations and
compiles a constructor, and a proxy imports over forty before it can answer. Here a class is
made in a tenth of that, and its constructor when it is first called. What is only ever
annotated with, stands for nothing.
"""

from __future__ import annotations

__all__ = [
    "TYPE_CHECKING",
    "Any",
    "AnyStr",
    "Literal",
    "NamedTuple",
    "Protocol",
    "TypeAlias",
    "TypeVar",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, AnyStr, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar
else:
    from collections import _tuplegetter  # what `namedtuple` reads its items with

    class _Fields(type):
        """Makes the annotations of a class the names of a tuple's items."""

        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
            body["__slots__"] = ()
            if _BASE in bases:
                fields = tuple(body.get("__annotations__", ()))
                body["_field_defaults"] = {field: body[field] for field in fields if field in body}
                body |= {field: _tuplegetter(at, None) for at, field in enumerate(fields)}
                body["_fields"] = body["__match_args__"] = fields
            return type.__new__(mcs, name, bases, body)

    _BASE = None

    class NamedTuple(tuple, metaclass=_Fields):
        """A tuple whose items have names."""

        def __new__(cls, *values: object, **named: object) -> Self:
            """Make the constructor; it takes this one's place."""
            new = _constructor(cls)
            cls.__new__ = staticmethod(new)  # from now on
            return new(cls, *values, **named)

        @classmethod
        def _make(cls, values: Iterable[object]) -> Self:
            return cls(*values)

        def _replace(self, /, **changes: object) -> Self:
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
            return made

        def _asdict(self) -> dict[str, object]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[object, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            items = [f"{name}={value!r}" for name, value in self._asdict().items()]
            return f"{type(self).__name__}({', '.join(items)})"

    _BASE = NamedTuple

    def _constructor(cls: type[NamedTuple]) -> Callable[..., Any]:
        fields = cls._fields
        taken, given = ", ".join(("cls", *fields)), "".join(f"{field}, " for field in fields)
        # Only names from our own source code stand in it.
        new = eval(f"lambda {taken}: make(cls, ({given}))", {"make": tuple.__new__})
        new.__name__, new.__qualname__ = "__new__", f"{cls.__qualname__}.__new__"
        new.__defaults__ = tuple(cls._field_defaults.values()) or None
        return new

    class Protocol:
        """What a part needs of another; nothing is looked at while it runs."""

    class _Form:
        """What makes types, and is one, as far as a running program asks."""

        def __getitem__(self, _: object) -> Self:
            return self

        def __call__(self, *_: object) -> Self:
            return self

        def __or__(self, _: object) -> Self:
            return self

        __ror__ = __or__

    Any = object
    AnyStr = Literal = TypeAlias = TypeVar = _Form()
