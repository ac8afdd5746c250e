"""Slips in an agent's command."""

from pathlib import Path

import pytest

from sidecar.agents.slips import refuse_slips
from sidecar.errors import UsageError


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("{mcp_confg}", "mcp_config"),
        ("{config}", "mcp_config"),
        ("{mcp-config}", "mcp_config"),
        ("--config={MCP_CONFIG}", "mcp_config"),
        ("{inputfile}", "input_file"),
        ("{inptu}", "input"),
        ("{output}", "output_file"),
    ],
)
def test_a_misspelt_template_is_refused_with_what_was_meant(word: str, meant: str) -> None:
    with pytest.raises(UsageError) as refused:
        refuse_slips(["agent", "x", word], [])

    assert refused.value.problem.endswith("}, which stands for nothing")
    assert refused.value.hint == (
        f"write {{{meant}}}; there are {{mcp_config}}, {{input}}, {{input_file}}, {{output_file}}"
    )


@pytest.mark.parametrize(
    "word",
    [
        *("{mcp_config}", "{input}", "--in={input_file}", "{output_file}"),
        *("{}", "{answer}", "--template={name}", "print(f'{inputs}')", '{"input": 1}', "${config}"),
    ],
)
def test_templates_and_braces_of_the_agents_own_are_none(word: str) -> None:
    refuse_slips(["agent", word], [])


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["python", "nope.py"], id="a script"),
        pytest.param(["python", "-u", "sub/nope.py", "x"], id="behind options, in a folder"),
        pytest.param(["node", "nope.mjs"], id="JavaScript"),
        pytest.param(["sh", "/nowhere/nope.sh"], id="absolute"),
    ],
)
def test_a_script_that_is_not_there_is_refused_with_where_it_was_looked_for(
    tmp_path: Path, words: list[str]
) -> None:
    script = next(word for word in words if "nope" in word)

    with pytest.raises(UsageError) as refused:
        refuse_slips(words, [tmp_path, tmp_path / "other"])

    assert refused.value.problem == f"the agent command names {script!r}, which is not there"
    assert refused.value.place == str(tmp_path / script)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["python", "agent.py"], id="in the second folder"),
        pytest.param(["./nope.sh"], id="a program is looked for when it starts"),
        pytest.param(["uv", "run", "nope.py"], id="a word of another program's"),
        pytest.param(["python", "-m", "agent", "--save", "new.py"], id="a file yet to be made"),
        pytest.param(["python", "nope"], id="not like a script"),
        pytest.param(["python"], id="no words"),
    ],
)
def test_other_words_are_the_agents_own(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "agent.py").touch()

    refuse_slips(words, [tmp_path / "other", tmp_path])
