"""Table 1: MCTS10, MCCFR10 and MCCFR100 against Poki and Sparbot, in sb/h."""

from __future__ import annotations

import time

from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, Sheet, write_csv
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.players import (
    BOTS,
    RECREATED,
    THREADS,
    Company,
    cell,
    difference,
    staged,
)

PLAYERS = ("MCTS10", "MCCFR10", "MCCFR100")
PAPER = {
    "poki": {"MCTS10": 0.077, "MCCFR10": 0.059, "MCCFR100": 0.191},
    "sparbot": {"MCTS10": -0.103, "MCCFR10": -0.091, "MCCFR100": 0.046},
}


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    company = Company(scale, store, tell)
    found = {}
    for k, name in enumerate(PLAYERS):
        company.tell = staged(tell, k, len(PLAYERS))
        strategy = company.equilibrium(name)
        for opponent in BOTS:
            found[name, opponent] = company.match(name, strategy, opponent)
    rows = [
        [f"{opponent}, ours", *(cell(found[name, opponent]) for name in PLAYERS)]
        for opponent in BOTS
    ]
    rows += [
        [f"{opponent}, paper (± 0.12)", *(f"{PAPER[opponent][name]:+.3f}" for name in PLAYERS)]
        for opponent in BOTS
    ]
    write_csv(
        store.folder / "table1.csv",
        ("opponent", "player", "sb_per_hand", "standard_error", "hands", "paper"),
        [
            (o, n, found[n, o].mean, found[n, o].standard_error, found[n, o].hands, PAPER[o][n])
            for o in BOTS
            for n in PLAYERS
        ],
    )
    gains = {
        opponent: difference(found["MCCFR100", opponent], found["MCCFR10", opponent])
        for opponent in BOTS
    }
    behind = {
        opponent: difference(found["MCCFR10", opponent], found["MCTS10", opponent])
        for opponent in BOTS
    }
    claims = [
        Claim(
            "Finer buckets win more: MCCFR100 does better than MCCFR10 against both bots.",
            "the difference is above twice its standard error against both",
            "; ".join(
                f"{opponent} {gain:+.3f} ± {error:.3f}" for opponent, (gain, error) in gains.items()
            ),
            all(gain > error for gain, error in gains.values()),
        ),
        Claim(
            "MCCFR10 wins a little from Poki.",
            "the 95% interval is above zero",
            cell(found["MCCFR10", "poki"]),
            found["MCCFR10", "poki"].interval[0] > 0,
        ),
        Claim(
            "MCCFR10 loses a little to Sparbot.",
            "the 95% interval is below zero",
            cell(found["MCCFR10", "sparbot"]),
            found["MCCFR10", "sparbot"].interval[1] < 0,
        ),
        Claim(
            "MCCFR100 wins from both bots.",
            "both 95% intervals are above zero",
            ", ".join(f"{opponent} {cell(found['MCCFR100', opponent])}" for opponent in BOTS),
            all(found["MCCFR100", opponent].interval[0] > 0 for opponent in BOTS),
        ),
        Claim(
            "MCTS10 is no worse than MCCFR10 against the bots, within noise.",
            "MCCFR10 is ahead by no more than twice the standard error against either bot",
            "; ".join(
                f"{opponent}: MCCFR10 ahead by {gain:+.3f} ± {error:.3f}"
                for opponent, (gain, error) in behind.items()
            ),
            all(gain <= error for gain, error in behind.values()),
        ),
    ]
    setting = {
        **company.size._asdict(),
        "threads": THREADS,
        "MCCFR": "external sampling",
        "MCTS": "C = 17",
    }
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        claims,
        setting,
        time.perf_counter() - started,
        ["table1.csv"],
        [Sheet("sb/h won, with 95% intervals", ["opponent", *PLAYERS], rows)],
        [RECREATED],
    )


EXPERIMENT = Experiment(
    "table1", "Table 1: equilibrium strategies against the bots", run, {"quick": 65, "paper": 9000}
)
