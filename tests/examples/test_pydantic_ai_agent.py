from pathlib import Path

from tests.examples.conftest import Project

ANSWER = "Say in the README what a member is. The call is at 18:00 in Tokyo."


def test_the_agent_answers_with_the_tools_of_both_servers(
    pydantic_ai_agent: Project, tmp_path: Path
) -> None:
    output = tmp_path / "answer.txt"
    question = tmp_path / "question.txt"
    question.write_text("What was done last?", encoding="utf-8")

    printed = pydantic_ai_agent.run_tapped(
        "agent.py", MCP_SIDECAR_OUTPUT_FILE=str(output), MCP_SIDECAR_INPUT_FILE=str(question)
    )

    assert printed == ANSWER + "\n"
    assert output.read_text(encoding="utf-8") == ANSWER
    assert pydantic_ai_agent.calls("git") == [("git_log", False)]
    assert pydantic_ai_agent.calls("time") == [("convert_time", False)]
