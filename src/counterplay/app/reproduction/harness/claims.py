"""The 27 claims of the article that are judged, in its own words, and the experiment of each."""

from __future__ import annotations

from typing import NamedTuple


class ArticleClaim(NamedTuple):
    figure: str  # figure or table, as printed in the summary
    experiment: str  # name of the experiment that judges it
    text: str


_PARTS: dict[tuple[str, str], list[str]] = {
    ("Figure 4, Kuhn poker", "fig4-kuhn"): [
        "MCCFR learns a Nash equilibrium",
        "MCTS settles in a balanced situation that is not an equilibrium",
        "where MCTS settles depends on C",
        "MCTS still plays dominated actions, and is unlearning them",
        "MCTS is exploitable, yet does not lose much to an equilibrium",
    ],
    ("Figure 4, hold'em", "fig4-holdem"): [
        "MCTS converges fast to a balanced situation",
        "MCCFR is slower, but continues to improve and surpasses MCTS",
        "an iteration of MCTS requires much less computation time",
        "an iteration of MCTS requires much less memory",
        "by time the early advantage of MCTS is larger",
        "external sampling may converge as fast as MCTS, in iterations",
    ],
    ("Table 1", "table1"): [
        "MCCFR10 wins by a small margin from Poki",
        "MCCFR10 loses a small amount to Sparbot",
        "MCCFR100 wins convincingly from Poki and Sparbot",
        "100 buckets perform much better than 10",
        "MCTS10 and MCCFR10 do about equally well",
    ],
    ("Table 2", "table2"): [
        "MCRNR exploits Poki considerably more than MCCFR, with 10 and with 100 buckets",
        "MCRNR10 earns much more from Poki than MCCFR100",
        "MCRNR100 wins more from Poki than MCRNR10",
        "against Sparbot MCRNR and MCCFR do not differ significantly",
    ],
    ("Figure 8", "fig8"): [
        "MCRNR10 has learnt to exploit Poki in about 20 million sampled iterations",
        "with more opponent data the response wins more",
    ],
    ("Figure 6", "fig6"): [
        "for 0.5 ≤ p ≤ 0.8 a noticeable boost can be had for a small loss of exploitability",
        "the region from p = 0.97 to 1 has high impact in every game except Bluff",
        "RNR and DBR with a fixed Pconf differ very little (footnote 10)",
    ],
    ("Figure 7", "fig7"): [
        "MCRNR gives a better approximation in less time, especially in the early iterations",
    ],
    ("Section 5", "holdem-time"): [
        "in poker sampling takes a fraction of the time of earlier algorithms",
    ],
}
#: By number, from 1.
ARTICLE: dict[int, ArticleClaim] = dict(
    enumerate((ArticleClaim(*part, text) for part, texts in _PARTS.items() for text in texts), 1)
)
