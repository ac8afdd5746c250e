"""Who judges outputs: the options of it, and the judge they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import click

from sidecar.agents.command import words_of
from sidecar.agents.judge import Judge
from sidecar.agents.judge_command import CommandJudge
from sidecar.cli.options import FiniteRange
from sidecar.errors import UsageError

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
DEFAULT_TIMEOUT_SECONDS = 60.0

_F = TypeVar("_F", bound=Callable[..., object])


class JudgeOptions(NamedTuple):
    """What the user said of the judge.

    Attributes:
        command: A judge that is a command, or None.
        url: A judge behind an endpoint, or None.
        model: The model's name there.
        key_variable: The environment variable that holds the key; None where none was
            named, empty where no key is to be sent.
        price: What it costs, `IN:OUT` in US dollars a million tokens, or None.
        timeout_seconds: How long one judgement may take.
    """

    command: str | None
    url: str | None
    model: str | None
    key_variable: str | None
    price: str | None
    timeout_seconds: float


def judge_options(command: _F) -> _F:
    """Give a verb the options of a judge; its function gets them as one value, `judging`."""

    @click.option(
        "--judge",
        "judge_command",
        metavar="CMD",
        help="Judges rubrics: a command that reads input, output and criteria as JSON, and"
        ' answers {"met": [true, ...]}.',
    )
    @click.option("--judge-url", metavar="URL", help="Judges rubrics: an OpenAI-compatible API.")
    @click.option("--judge-model", metavar="NAME", help="The model behind --judge-url.")
    @click.option(
        "--judge-key-env",
        metavar="NAME",
        help=f"Variable with the key for --judge-url; default {DEFAULT_KEY_VARIABLE}; '': none.",
    )
    @click.option(
        "--judge-price",
        metavar="IN:OUT",
        help="What that model costs, in US dollars a million tokens.",
    )
    @click.option(
        "--judge-timeout",
        type=FiniteRange(min=0, min_open=True),
        default=DEFAULT_TIMEOUT_SECONDS,
        show_default=True,
        metavar="SECONDS",
        help="How long one judgement may take.",
    )
    @wraps(command)
    def with_judge(  # noqa: PLR0913  # one parameter an option
        *,
        judge_command: str | None,
        judge_url: str | None,
        judge_model: str | None,
        judge_key_env: str | None,
        judge_price: str | None,
        judge_timeout: float,
        **others: object,
    ) -> object:
        judging = JudgeOptions(
            judge_command, judge_url, judge_model, judge_key_env, judge_price, judge_timeout
        )
        return command(judging=judging, **others)

    return cast("_F", with_judge)


def judge_of(options: JudgeOptions, *, cwd: Path, environ: Mapping[str, str]) -> Judge | None:
    """Make the judge that the user named; None where none was named.

    Args:
        options: What the user said.
        cwd: Where a command works.
        environ: Where the key is; a command gets it whole.

    Raises:
        UsageError: If the options do not fit together, or the judge cannot be used.
        AgentError: If the command's words cannot be read.
    """
    _check(options)
    if options.command is not None:
        return CommandJudge(
            words_of([options.command]),
            cwd=cwd,
            timeout_seconds=options.timeout_seconds,
            environ=environ,
        )
    if options.url is None or options.model is None:
        return None
    # Importing an HTTP client takes half a second; most runs need none.
    from sidecar.agents.judge_url import Endpoint, EndpointJudge, Prices  # noqa: PLC0415

    prices = None if options.price is None else Prices(*_prices(options.price))
    endpoint = Endpoint(
        url=options.url,
        model=options.model,
        key=key_of(options, environ),
        timeout_seconds=options.timeout_seconds,
        prices=prices,
    )
    return EndpointJudge(endpoint)


def key_of(options: JudgeOptions, environ: Mapping[str, str]) -> str | None:
    """Find the key for the endpoint; None where none is to be sent.

    Raises:
        UsageError: If the variable that was named is not set.
    """
    if options.url is None or options.key_variable == "":
        return None
    name = options.key_variable or DEFAULT_KEY_VARIABLE
    key = environ.get(name, "").strip() or None
    if key is None and options.key_variable is not None:
        raise UsageError(
            f"the variable {name} is not set, which --judge-key-env names",
            hint="set it to the judge's key",
        )
    if key is not None and not (key.isascii() and key.isprintable()):
        raise UsageError(f"the key in the variable {name} is no key", hint="set it anew")
    return key


def _check(options: JudgeOptions) -> None:
    if options.command is not None and options.url is not None:
        raise UsageError("--judge and --judge-url name two judges", hint="leave one of the two out")
    if options.url is not None and options.model is None:
        raise UsageError("--judge-url needs a model", hint="name it with --judge-model")
    for value, name in (
        (options.model, "--judge-model"),
        (options.key_variable, "--judge-key-env"),
        (options.price, "--judge-price"),
    ):
        if value is not None and options.url is None:
            raise UsageError(f"{name} is for --judge-url", hint="give the judge's URL too")


def _prices(text: str) -> tuple[Fraction, Fraction]:
    try:
        given, made = (Fraction(Decimal(part)) for part in text.split(":"))
    except (ValueError, InvalidOperation, OverflowError):
        given = made = Fraction(-1)
    if given < 0 or made < 0:
        raise UsageError(
            f"{text!r} is no price", hint="write --judge-price IN:OUT, such as 0.15:0.60"
        )
    return given, made
