from sidecar.cassette.redaction.sought import Finder, Kind, Part


def test_each_part_of_a_value_is_looked_through_for_kinds_up_to_its_own() -> None:
    searched = {part: [kind for kind in Kind if kind <= part] for part in Part}

    assert searched == {
        Part.BINARY: [Kind.KNOWN],
        Part.SCHEMA: [Kind.KNOWN, Kind.SHAPES, Kind.PATTERNS],
        Part.PLAIN: list(Kind),
    }


def test_a_finder_explains_all_unless_it_says_otherwise() -> None:
    assert Finder(Kind.KNOWN, ("",), lambda _: ()).explains(b"{}")
