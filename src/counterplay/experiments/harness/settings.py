"""What each setting of an experiment means, in words for the report. A test asks that every
setting of every experiment stands here."""

from __future__ import annotations

import re

MEANING = {
    "C": "the constant of MCTS: how much it explores, in units of the payoff",
    "MCCFR10": "whose winnings are the mark: the equilibrium with 10 buckets",
    "MCRNR": "how the sampled responses were computed",
    "MCTS": "its constant of exploration",
    "Pconf": "how far the model is trusted, from 0 to 1",
    "buckets": "of hand strength on each street; the number of them is the size of the abstraction",
    "converged": "when a sampled response counts as finished",
    "engine": "how MCCFR samples: outcome (the paper's), external or public (ours)",
    "epsilon": "the share of random exploration in outcome sampling",
    "every": "iterations from one measurement to the next",
    "external": "iterations of external sampling; two numbers: with 10 and with 100 buckets",
    "finer": "effort of one MCRNR that responds to a finer model, in units; 0: none does",
    "full": "iterations of one exact response (RNR) at most",
    "games": "what is played; as a number: how many hands",
    "gap": "of the restricted game, as a share of what can be won, at which RNR stops",
    "hands": "of each match; in a list, of each of the matches in their order",
    "iterations": "of each run; in a list, of each of its variants in their order",
    "iterations per 1,000 games": "of the response, between two blocks of play",
    "iterations per unit": "how many iterations one unit of effort is, by game and method",
    "many": "hands with all cards seen, for a model that is nearly perfect; 0: not at this scale",
    "mcts": "iterations of MCTS",
    "measured": "duplicate hands in which each frozen policy is measured",
    "measured every": "iterations from one measurement to the next",
    "model": "how the opponent's model was learnt",
    "model iterations at most": "of the equilibrium that serves as a model",
    "models": "exploitability of the models that are responded to",
    "observed": "hands from which the opponent's model was learnt",
    "observed by": "who played the observed hands against him",
    "opponent": "whom both algorithms are measured against",
    "outcome": "iterations of outcome sampling; two numbers: with 10 and with 100 buckets",
    "p": "how far the model is trusted, from 0 (an equilibrium) to 1 (a best response)",
    "poki": "hands of a match against Poki; 0: none",
    "public": "iterations of public chance sampling; 0: not at this scale",
    "reference": "iterations of the profile that is played against",
    "respond": "engine and buckets of the responses in the table",
    "scale": "quick takes minutes; paper is meant to decide",
    "seconds": "of solving at most, of each run",
    "seeds": "runs with different random numbers",
    "sparbot": "hands of a match against Sparbot or a strategy",
    "swept": "iterations of each of the variants that are only compared",
    "swept_hands": "hands in which these are measured",
    "swept_seeds": "runs of each value of C",
    "target": "the gap of the restricted game, as a share of the range of payoffs, to be reached",
    "threads": "that share the work of one run",
    "time taken": "of the whole experiment, as far as it was not kept from before",
    "trusts": "further values of Pconf, against Sparbot",
    "trusted": "iterations of external sampling for each seat of the responses to Sparbot by Pconf",
    "units": "of effort for each run, about seconds",
}
#: Rows that name a player: `MCCFR10, external`, `MCRNR100, outcome, for poki`.
PLAYER = re.compile(r"(MCCFR|MCRNR|MCTS)\d*\b.*,.*")


def meaning(name: str) -> str:
    """What a setting means; empty where nobody says."""
    if name in MEANING:
        return MEANING[name]
    return "what this player's training took" if PLAYER.fullmatch(name) else ""
