"""Every mistake in a command about hold'em gets one sentence and exit code 2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.command import Inside, run
from support.holdem import NAME

import counterplay as cp

MISTAKES = [
    (["match", "always-cal", "probe"], "did you mean 'always-call'"),
    (["match", "mine.npz", "nowhere/x.npz"], "nowhere/x.npz"),
    (["match", "always-call", "probe", "-n", "0"], "hands must be a whole number from 2"),
    (["match", "always-call", "probe", "--seed", "-1"], "seed must be"),
    (["match", "always-call", "probe", "--observer", "z"], "'a' or 'b'"),
    (["match", "always-call", "probe", "--game", "holdme"], "did you mean 'holdem'"),
    (["match", "mine.npz", "probe", "--game", "holdem(buckets=9)"], "not for holdem(buckets=9)"),
    (["match", "mine.npz", "uniform", "--game", "kuhn"], "not for kuhn"),
    (["match", "noise.npz", "probe"], "not a Counterplay file"),
    (
        ["match", "uniform", "uniform", "--game", "kuhn", "--log", "x.parquet", "-n", "10"],
        "hold'em",
    ),
    (["match", "always-call"], "against whom"),
    (["match", "always-call", "probe", "-n", "1"], "hands must be a whole number from 2"),
    (["match", "always-call", "probe", "-n", "1000000001"], "hands must be a whole number from 2"),
    (["match", "always-call", "probe", "-n", "-5"], "hands must be a whole number from 2"),
    (["match", "always-call", "probe", "--seed", "18446744073709551616"], "seed must be"),
    (["match", "always-call", "probe", "--observer", "a"], "log"),
    (["match", "always-call", "probe", "--observer", "", "--log", "x.parquet"], "'a' or 'b'"),
    (["match", "always-call", "probe", "--budget", "10"], "add --learn"),
    (["match", "always-call", "probe", "--log", "x.txt"], ".parquet"),
    (["match", "always-call", "probe", "--log", "mine.npz/x.parquet"], "cannot write"),
    (["match", "always-call", "probe", "--log", "."], ".parquet"),
    (["match", "n" * 300, "probe"], "n" * 59 + "... (302 characters)"),
    (["match", "n" * 300 + ".npz", "probe"], "n" * 59 + "... (306 characters)"),
    (["match", "n" * 5000, "--learn"], "n" * 59 + "... (5,002 characters)"),
    (["match", "", "probe"], "unknown player"),
    (["match", "probe", "always-call", "--learn"], "one opponent"),
    (["match", "probe", "--learn", "--duplicate"], "leave out --duplicate"),
    (["match", "probe", "--learn", "--no-duplicate"], "leave out --no-duplicate"),
    (["match", "probe", "--learn", "-n", "1000"], "more than that"),
    (["respond", "uniform", "--game", "kuhn", "--player", "3"], "from 1 to 2, not 3"),
    (["frontier", "uniform", "--game", "kuhn", "--player", "3"], "from 1 to 2, not 3"),
    (["solve", "kuhn", "-n", "10", "--iterations", "20"], "--iterations is given twice"),
    (["exam", "safe", "--against", "safe", "--against", "poki"], "--against is given twice"),
    (["match", "probe", "--learn", "-n", "0"], "hands must be a whole number from 2"),
    (["match", "probe", "--learn", "--seed", "-1"], "seed must be"),
    (["match", "probe", "--learn", "--observer", "a"], "log"),
    (["match", "probe", "--learn", "--log", "x.txt"], ".parquet"),
    (["match", "probe", "--learn", "--log", "mine.npz/x.log"], "cannot write"),
    (["match", "probe", "--learn", "--game", "kuhn"], "unknown player 'probe'"),
    (["match", "uniform", "--learn", "--game", "kuhn", "--memory", "m.parquet"], ".npz"),
    (["match", "uniform", "--learn", "--game", "kuhn", "--log", "m.log"], "hold'em only"),
    (["match", "uniform", "--learn", "--game", "kuhn(players=3)"], "two-player"),
    (["match", "prob", "--learn"], "did you mean 'probe'"),
    (["show", "nothing.npz"], "no such file"),
    (["show", "noise.npz"], "not a Counterplay file"),
    (["show", "mine.npz", "--betting", "rrrr"], "no decision before the flop"),
    (["evaluate", "mine.npz"], "flops=40 gives an estimate"),
    (["evaluate", "mine.npz", "--backend", "tpu"], "backend must be one of"),
    (["evaluate", "mine.npz", "--flops", "2"], "at least 12 flops"),
    (["evaluate", "mine.npz", "--against", "uniform"], "counterplay match mine.npz uniform"),
    (["solve", "holdem(buckets=0)", "-a", "mccfr"], "from 1 to 1000"),
    (["solve", NAME, "-a", "cfr+", "-n", "10"], "mccfr"),
    (["solve", NAME, "-a", "mccfr", "-n", "10", "-o", "threads=0"], "threads must be"),
    *(
        (
            [name, "always-call", "--game", NAME, "--flops", "12", option, limit],
            f"{option} must be a number above 0, not {limit}",
        )
        for name in ("respond", "frontier")
        for option, limit in (("--max-risk", "-5"), ("--max-exploitability", "nan"))
    ),
    (["respond", "always-rais", "--game", NAME, "-a", "mcdbr", "-n", "10"], "always-rais"),
]


@pytest.mark.parametrize(
    ("arguments", "words"),
    MISTAKES,
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_mistakes_get_one_sentence_and_code_2(
    arguments: list[str], words: str, inside: Inside, tmp_path: Path
) -> None:
    cp.Strategy.uniform(cp.load(NAME)).save(tmp_path / "mine.npz")
    (tmp_path / "noise.npz").write_bytes(np.random.default_rng(1).bytes(500))
    done = inside(tmp_path, *arguments)
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"mine.npz", "noise.npz"}


def test_a_mistake_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = run(tmp_path, "match", "always-cal", "probe")
    assert done.returncode == 2
    assert "did you mean 'always-call'" in done.stderr
    assert "Traceback" not in done.stderr
