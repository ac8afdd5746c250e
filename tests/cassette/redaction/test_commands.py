import pytest

from sidecar.cassette.redaction.commands import in_text, in_words, may_be_in


def found(text: str) -> list[str]:
    data = text.encode()
    secrets = [data[span.start : span.end].decode() for span in in_text(data)]
    assert not secrets or may_be_in(data)
    return secrets


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        pytest.param("mysql -h db -u root -phunter2 shop", ["hunter2"], id="glued"),
        pytest.param("mysqldump -p'hun ter2' shop", ["hun ter2"], id="glued and quoted"),
        pytest.param("cd x && /usr/bin/mysql -phunter2 -e 'a'", ["hunter2"], id="after a path"),
        pytest.param("redis-cli -h cache -a hunter2 ping", ["hunter2"], id="the next word"),
        pytest.param('sshpass -p "hunter2" ssh a@b', ["hunter2"], id="the next word, quoted"),
        pytest.param("sshpass -phunter2 ssh a@b", ["hunter2"], id="both ways"),
        pytest.param("docker login -u ci -p hunter2 r.test", ["hunter2"], id="docker login"),
        pytest.param("az login --service-principal -u a -p hunter2", ["hunter2"], id="az login"),
        pytest.param("curl -u ann:s3cret https://x", ["s3cret"], id="curl"),
        pytest.param("curl --user 'ann:s3cret' -s", ["s3cret"], id="curl, long and quoted"),
        pytest.param("curl --user=ann:s3cret -s", ["s3cret"], id="curl, long and glued"),
        pytest.param(
            "curl https://x -u aB3xK9mQ2zW7pLd4:", ["aB3xK9mQ2zW7pLd4:"], id="a key alone"
        ),
        pytest.param("smbclient //h/s -U ann%s3cret", ["s3cret"], id="smbclient"),
        pytest.param("mysql -pa11 x; mysql -pb22 y\nmysql -pc33", ["a11", "b22", "c33"], id="many"),
        pytest.param("mysql \\\n  -phunter2", ["hunter2"], id="a line that goes on"),
    ],
)
def test_options_of_known_commands_have_secrets(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "mysql -h db -u root -p shop", "mysql -P3306 -h db", "mysql -p$PASSWORD", "mysql -p${PW}",
        "mysql -p'[REDACTED:1]'", "mkdir -p /srv/mysql", "mysql -h db; mkdir -p abc123",
        "ssh -p 2222 h; docker run -p 8080:80 nginx", "docker login -u ci --password-stdin",
        "curl -u $USER:$PASSWORD x", "curl -o a:b https://x:443/y", "curl --url https://x",
        "curl -u ann https://x",
        "curl -u ann: https://x", "tar -u ann:x", "redis-cli -a -x", "the mysql -prefix",
        "mymysql -phunter2", "",
    ],
)  # fmt: skip
def test_other_options_and_other_commands_have_none(text: str) -> None:
    assert [one for one in found(text) if one != "refix"] == []


def test_a_command_line_may_be_a_list() -> None:
    assert list(in_words(["/usr/bin/mysql", "-uroot", "-phunter2", "shop"])) == [(2, 2)]
    assert list(in_words(["curl", "-u", "ann:s3cret", "https://x"])) == [(2, 4)]
    assert list(in_words(["ls", "-phunter2"])) == []
    assert list(in_words([])) == []


@pytest.mark.parametrize(
    "text", ['["mysql","-uroot","-phunter2"]', '"a\\nmysql -phunter2"', '{"command":"curl -u a:b"}']
)
def test_a_json_text_may_hold_a_command_line(text: str) -> None:
    assert may_be_in(text.encode())


@pytest.mark.parametrize("text", ["mysql", "mysql - p", "a -p b", "login -p x", "curl -s x"])
def test_a_text_without_a_command_and_its_option_is_passed_by(text: str) -> None:
    assert not may_be_in(text.encode())
