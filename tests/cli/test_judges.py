"""The options of a judge."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sidecar.agents.judge_command import CommandJudge
from sidecar.agents.judge_url import EndpointJudge
from sidecar.cli.judges import JudgeOptions, judge_of, judge_options, key_of
from sidecar.errors import UsageError

URL = "https://judge.example/v1"
KEY = "Xk29fLq0vT7mZp4R"


def said(*words: str) -> JudgeOptions:
    """What the options come to."""
    found: list[JudgeOptions] = []

    @click.command()
    @judge_options
    @click.option("--other")
    def verb(*, judging: JudgeOptions, other: str | None) -> None:
        assert other == "x"
        found.append(judging)

    done = CliRunner().invoke(verb, [*words, "--other", "x"])
    assert done.exit_code == 0, done.output
    return found[0]


def test_a_verb_gets_them_as_one_value_beside_its_own() -> None:
    assert said() == JudgeOptions(None, None, None, None, None, 60.0)
    assert said("--judge", "python judge.py", "--judge-timeout", "5") == JudgeOptions(
        "python judge.py", None, None, None, None, 5.0
    )
    words = ("--judge-url", URL, "--judge-model", "m", "--judge-key-env", "K")
    assert said(*words, "--judge-price", "1:2") == JudgeOptions(None, URL, "m", "K", "1:2", 60.0)


def test_none_named_is_none(tmp_path: Path) -> None:
    assert judge_of(said(), cwd=tmp_path, environ={}) is None


def test_a_command_is_split_as_a_shell_does(tmp_path: Path) -> None:
    found = judge_of(said("--judge", "sh -c 'exit 1'"), cwd=tmp_path, environ={"PATH": "/bin"})

    assert isinstance(found, CommandJudge)


def test_an_endpoint_needs_no_key(tmp_path: Path) -> None:
    words = ("--judge-url", URL, "--judge-model", "m", "--judge-price", "0.15:0.60")

    assert isinstance(judge_of(said(*words), cwd=tmp_path, environ={}), EndpointJudge)


@pytest.mark.parametrize(
    ("words", "environ", "key"),
    [
        pytest.param([], {"OPENAI_API_KEY": KEY}, KEY, id="the default variable"),
        pytest.param([], {}, None, id="it is not set"),
        pytest.param([], {"OPENAI_API_KEY": ""}, None, id="it is empty"),
        pytest.param([], {"OPENAI_API_KEY": f"{KEY}\n"}, KEY, id="with a line end"),
        pytest.param(["--judge-key-env", "K"], {"K": KEY, "OPENAI_API_KEY": "x"}, KEY, id="named"),
        pytest.param(["--judge-key-env", ""], {"OPENAI_API_KEY": KEY}, None, id="none is wanted"),
    ],
)
def test_the_key_is_that_of_the_variable(
    words: list[str], environ: dict[str, str], key: str | None
) -> None:
    assert key_of(said("--judge-url", URL, "--judge-model", "m", *words), environ) == key


def test_a_command_has_no_key_of_ours() -> None:
    assert key_of(said("--judge", "x"), {"OPENAI_API_KEY": KEY}) is None


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        pytest.param(["--judge", "true", "--judge-url", URL], "name two judges", id="two"),
        pytest.param(["--judge-url", URL], "--judge-url needs a model", id="no model"),
        pytest.param(["--judge-model", "m"], "--judge-model is for --judge-url", id="model alone"),
        pytest.param(["--judge-key-env", "K"], "--judge-key-env is for", id="key alone"),
        pytest.param(["--judge-price", "1:2"], "--judge-price is for", id="price alone"),
        pytest.param(
            ["--judge-url", URL, "--judge-model", "m", "--judge-key-env", "K"],
            "the variable K is not set",
            id="no key where one was named",
        ),
        pytest.param(
            ["--judge-url", URL, "--judge-model", "m", "--judge-key-env", "ODD"],
            "the key in the variable ODD is no key",
            id="a key that is none",
        ),
    ],
)
def test_options_that_do_not_fit_together_are_refused(
    words: list[str], problem: str, tmp_path: Path
) -> None:
    environ = {"PATH": "/bin:/usr/bin", "ODD": "a\nb: c"}

    with pytest.raises(UsageError, match=problem):
        judge_of(said(*words), cwd=tmp_path, environ=environ)


@pytest.mark.parametrize("price", ["1", "1:2:3", "a:b", "-1:2", "1:-2", "nan:1", "inf:1", ":", ""])
def test_a_price_that_is_none_is_refused(price: str, tmp_path: Path) -> None:
    words = ("--judge-url", URL, "--judge-model", "m", "--judge-price", price)

    with pytest.raises(UsageError, match="is no price; write --judge-price IN:OUT"):
        judge_of(said(*words), cwd=tmp_path, environ={})
