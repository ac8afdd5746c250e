"""The same agent after a careless change: it "tidies up" before it begins.

Its answer is as good as before. But `git_reset` throws away whatever the owner of the repository
had staged, and no look at the answer alone will tell.
"""

from contextlib import suppress

from agent import REPOSITORY, Question, ToolFailedError, Tools, main, write_notes


async def tidy_up_and_write_notes(tools: Tools, question: Question) -> str:
    """Answer the question, on a path that no one allowed."""
    with suppress(ToolFailedError):
        await tools.call("git", "git_reset", repo_path=REPOSITORY)
    return await write_notes(tools, question)


if __name__ == "__main__":
    main(tidy_up_and_write_notes)
