from sidecar.cassette.redaction.value_parts import opaque_segments, password_of


def test_a_password_is_what_follows_a_user() -> None:
    assert password_of("bob:hunter22x") == "hunter22x"
    assert [password_of(text) for text in ("bob", "h:80", "https://a:b", '{"a":"bcdefgh"}')] == [
        ""
    ] * 4


def test_an_opaque_segment_of_a_urls_path_is_found() -> None:
    token = "aB3xK9mQ2z" + "LpWr7t"

    assert list(opaque_segments(f"https://x.test/s/{token}/sse?a=1")) == [token]
    assert list(opaque_segments(f"https://x.test/quarterly-report-2026-final/{'0' * 20}")) == []
    assert list(opaque_segments(f"/s/{token}")) == []
