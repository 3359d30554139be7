"""What each experiment is about, for the report."""

from __future__ import annotations

from typing import NamedTuple


class Story(NamedTuple):
    """What the article reports, and what the experiment means, in about three sentences."""

    article: str
    meaning: str


_BOTS = "The bots are re-creations of commercial programs, so numbers compare in tendency only."
STORIES: dict[str, Story] = {
    "fig4-kuhn": Story(
        "MCCFR's squared and dominated errors are close to zero. MCTS (C = 2) has converged "
        "slightly off the equilibrium, plays dominated actions and is still unlearning them. No "
        "numbers are given.",
        "MCCFR's errors fall by about a factor of ten with each decade of iterations. MCTS stops "
        "at a distance from every equilibrium that depends on C, while its dominated actions "
        "become ever rarer. A best response exploits it; an equilibrium wins almost nothing from "
        "it.",
    ),
    "fig4-holdem": Story(
        "MCTS (C = 17) rises fast and stays where it is; MCCFR (ε = 0.6) rises slowly and "
        "surpasses it at about 45 million iterations (read from the curves; the text gives no "
        "number).",
        "MCTS is the stronger of the two for some tens of millions of iterations, then stops "
        "improving, while outcome sampling goes on. An iteration of it is not cheaper here, where "
        "both spend most of their time on cards and memory. External sampling, at which the "
        "article only guesses, is far ahead of both in iterations and in time.",
    ),
    "holdem-time": Story(
        "MCRNR achieves its performance in a fraction of the computation time required by previous "
        "algorithms; 20 million sampled iterations require much less time than as many full "
        "backups. No times are given.",
        "A full pass of CFR over the bucketed game takes long enough for every sampling engine to "
        "become strong. Against chance-sampled CFR, which Zinkevich et al. (2008) used in poker, "
        "external and public sampling need a small fraction of the time. Outcome sampling, the "
        "article's engine, needs more than chance-sampled CFR.",
    ),
    "table1": Story(
        "sb/h over 10,000 games, ± 0.12: MCTS10 +0.077 from Poki and -0.103 from Sparbot, MCCFR10 "
        "+0.059 and -0.091, MCCFR100 +0.191 and +0.046.",
        f"Equilibrium strategies of three abstractions play the two bots. {_BOTS} Players that "
        "have converged (public sampling) are judged; outcome sampling, the article's engine, is "
        "beside them at the iterations it got.",
    ),
    "table2": Story(
        "sb/h over 10,000 games, ± 0.12: MCRNR10 +0.369 from Poki and -0.039 from Sparbot, "
        "MCRNR100 +0.482 and +0.061; MCCFR as in Table 1. Models are learnt from about 20,000 "
        "games.",
        f"Robust responses to a model of each bot play against it. {_BOTS} How the model treats "
        "cards that were never shown decides what the response wins: taken literally, J48 "
        "cannot represent that weak hands fold.",
    ),
    "fig6": Story(
        "Curves of gain against risk for p = 0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97 and 1 in OCP(500), "
        "Goofspiel, Bluff and Princess and Monster. No numbers are given.",
        "Trust in the model buys winnings from the model at the price of being exploitable. RNR at "
        "full width, which is exact, is judged; MCRNR is beside it. How much the last step of p "
        "costs depends on the game and on how good the model is.",
    ),
    "fig7": Story(
        "MCRNR is below RNR in all four games, above all at the left end of the curves. No numbers "
        "are given.",
        "Both algorithms respond to the same model; the curves are the exploitability of the pair "
        "of responses by nodes and by seconds. Where a game has much chance, sampling reaches a "
        "good approximation before full width has ended its first pass. The verdict is game by "
        "game.",
    ),
    "fig8": Story(
        "An online MCRNR10 with 6 million iterations for every 1,000 games exploits Poki after "
        "about 20 million iterations; Table 2 has its final +0.369 sb/h.",
        "The response is learnt while it plays, to a model from 20,000 games observed before. It "
        "is compared with MCCFR10, which never adapts, on the same hands. The second panel has the "
        "winnings by number of observed games.",
    ),
    "bots": Story(
        "",
        "The bots of the article are commercial programs; these are re-creations from published "
        "descriptions. The table has what the originals were reported to win, and what the "
        "re-creations win.",
    ),
    "buckets": Story(
        "100 buckets are much better than 10, and less abstraction would be better still.",
        "MCCFR with 10 to 200 buckets is trained for about the same time, and measured by time "
        "(left) and by visits of information sets (right). Finer buckets can express more, and "
        "need longer to train. So the best number depends on the time there is.",
    ),
    "by-size": Story(
        "",
        "Each family of games grows until a tree no longer fits. Up to there the table compares "
        "the seconds, building included, and the memory that full width and sampling need to the "
        "same gap. Beyond it only sampling without a tree goes on.",
    ),
}
