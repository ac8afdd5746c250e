from pathlib import Path

from bench import contestants, workload
from bench.session import sessions


def test_the_relay_passes_small_and_big_answers_on(tmp_path: Path) -> None:
    launch = contestants.recording("relay", tmp_path / "none.jsonl", tmp_path)
    requests = [*workload.small_calls(4), *workload.big_calls(1, first=4)]

    with sessions({"relay": launch}) as started:
        started["relay"].calls(requests)
        started["relay"].burst(workload.echo_calls(20, first=5))

    assert started["relay"].client.process.returncode == 0
