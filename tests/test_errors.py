"""What errors say, and what they survive."""

import copy
import pickle

import pytest

from sidecar import errors
from sidecar.errors import CassetteError, SidecarError

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, SidecarError)
]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(SidecarError("it is empty"), "it is empty", id="problem only"),
        pytest.param(SidecarError("it is empty", place="a:1"), "a:1: it is empty", id="place"),
        pytest.param(
            SidecarError("it is empty", hint="fill it"), "it is empty; fill it", id="next step"
        ),
        pytest.param(
            SidecarError("it is empty", place="a:1", hint="fill it"),
            "a:1: it is empty; fill it",
            id="place and next step",
        ),
    ],
)
def test_an_error_says_where_what_and_what_to_do(error: SidecarError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_means_not_measured_and_stands_in_the_tree(kind: type[SidecarError]) -> None:
    assert kind.exit_code == 2
    assert kind.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_keeps_its_facts_when_it_is_copied_or_pickled(again: object) -> None:
    assert callable(again)
    found = again(CassetteError("it is empty", place="a:1", hint="fill it"))

    assert type(found) is CassetteError
    assert (found.problem, found.place, found.hint) == ("it is empty", "a:1", "fill it")
    assert str(found) == "a:1: it is empty; fill it"
