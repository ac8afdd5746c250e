"""Our `NamedTuple` is what that of `typing` is."""

import copy
import pickle
import typing

import pytest

from sidecar.wire import typed


class Ours(typed.NamedTuple):
    """A place."""

    x: int
    y: int = 2
    note: str | None = None

    @property
    def total(self) -> int:
        """Both."""
        return self.x + self.y


class Theirs(typing.NamedTuple):
    """A place."""

    x: int
    y: int = 2
    note: str | None = None


class Empty(typed.NamedTuple):
    """Nothing."""


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda of: of(1), id="defaults"),
        pytest.param(lambda of: of(1, 5, "a"), id="by place"),
        pytest.param(lambda of: of(note="a", x=3), id="by name"),
        pytest.param(lambda of: of(1)._replace(y=9), id="replaced"),
        pytest.param(lambda of: of._make([4, 5, None]), id="made of a list"),
        pytest.param(lambda of: pickle.loads(pickle.dumps(of(7))), id="pickled"),
        pytest.param(lambda of: copy.deepcopy(of(7)), id="copied"),
    ],
)
def test_a_value_is_the_same_tuple_as_one_of_typing(
    make: typing.Callable[[typing.Any], typing.Any],
) -> None:
    ours, theirs = make(Ours), make(Theirs)

    assert ours == theirs
    assert (type(ours), hash(ours)) == (Ours, hash(theirs))
    assert (ours.x, ours.y, ours.note) == tuple(theirs)
    assert ours._asdict() == theirs._asdict()
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")


def test_a_class_says_what_one_of_typing_says() -> None:
    assert (Ours._fields, Ours._field_defaults) == (Theirs._fields, Theirs._field_defaults)
    assert (Ours.__match_args__, Ours.__doc__) == (Theirs.__match_args__, "A place.")
    assert (Empty(), Empty._fields) == ((), ())


def test_its_methods_and_patterns_work() -> None:
    match Ours(1, 4):
        case Ours(x, y):
            assert x + y == Ours(1, 4).total == 5


@pytest.mark.parametrize("name", ["x", "other"])
def test_a_value_never_changes(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(Ours(1), name, 2)


def test_what_it_has_no_place_for_is_refused() -> None:
    make: typing.Any = Ours
    for values, named in (((), {}), ((1, 2, "a", 4), {}), ((1,), {"z": 2})):
        with pytest.raises(TypeError, match=r"Ours\.__new__"):
            make(*values, **named)
    with pytest.raises(TypeError, match="Ours has no z"):
        Ours(1)._replace(z=2)  # type: ignore[call-arg]
