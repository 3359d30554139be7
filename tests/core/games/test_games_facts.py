"""Published sizes, values and exploitabilities of the games. No solver of the package is
involved."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from support.lp import lp_value

from counterplay.core.evaluation.exact import best_response, expected_value, exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.forms.tree import TERMINAL

#: Histories and information sets. A deal is one joint chance move, so a game with one has a single
#: node above all deals.
SIZES = {
    # Rules: 6 deals with 9 histories each; 12 information sets (Hoehn 2006).
    "kuhn": (6 * 9 + 1, 12),
    # Szafron, Gibson and Sturtevant 2013: 4 cards in 12 situations; 24 deals with 12 decisions and
    # 13 endings each.
    "kuhn(players=3)": (24 * 25 + 1, 48),
    # 936 information sets with suits kept apart, 288 with suits merged (OpenSpiel, Southey et al.
    # 2005). 30 deals; a round has 6 decisions, 4 folds and 5 ways to go on, to 4 public cards or to
    # a showdown.
    "leduc": (30 * (6 + 4 + 5 * (1 + 4 * 15)) + 1, 936),
    "leduc(suits=False)": (30 * (6 + 4 + 5 * (1 + 4 * 15)) + 1, 288),
    # Lanctot et al. 2009, Table 1: 2 thousand information sets. Its 22.4 million histories are a
    # slip: 500*499*9 + the root.
    "ocp(500)": (500 * 499 * 9 + 1, 2000),
    # N * 2^(2N) information sets; 36 rolls with 2^13 - 1 histories each ("over 24 thousand", Gibson
    # et al. 2012).
    "bluff(1,1,3)": (9 * 127 + 1, 192),
    "bluff(1,1,4)": (16 * 511 + 1, 1024),
    "bluff(1,1,5)": (25 * 2047 + 1, 5120),
    "bluff(1,1,6)": (36 * 8191 + 1, 24576),
    # Counted with the rules of Lanctot et al. 2009, whose Table 1 has N = 7 (98.3 million and 3294
    # thousand; below).
    "goofspiel(2)": (15, 10),
    "goofspiel(3)": (139, 72),
    "goofspiel(4)": (2229, 738),
    "goofspiel(5)": (55731, 9948),
    "goofspiel(6)": (2006323, 166002),
}
GOOFSPIEL_7 = (98_309_835, 3_294_456)
EIGHT_GB = 8e9

#: Value to player 1 and how closely the constant is known.
VALUES: dict[str, tuple[Fraction | float, float]] = {
    # Kuhn 1950; Section 2.2 of the paper.
    "kuhn": (Fraction(-1, 18), 1e-9),
    # One-Card Poker: exact rational solutions of the linear program.
    "ocp(3)": (Fraction(-1, 18), 1e-9),
    "ocp(4)": (Fraction(-1, 24), 1e-9),
    "ocp(5)": (Fraction(-1, 15), 1e-9),
    "ocp(6)": (Fraction(-11, 180), 1e-9),
    "ocp(10)": (Fraction(-11, 180), 1e-9),
    "ocp(100)": (Fraction(-1121, 19800), 1e-9),
    "ocp(500)": (-0.0557762191, 1e-9),
    # OpenSpiel's tests.
    "leduc": (-0.085606424078, 1e-9),
    "leduc(suits=False)": (-0.085606424078, 1e-9),
    # Highest face wild; N = 6 also in Neller and Lanctot 2013.
    "bluff(1,1,2)": (Fraction(1, 2), 1e-9),
    "bluff(1,1,3)": (Fraction(1, 9), 1e-9),
    "bluff(1,1,4)": (Fraction(1, 16), 1e-9),
    "bluff(1,1,6)": (Fraction(-7, 258), 1e-9),
    # By symmetry.
    "goofspiel(3)": (0, 1e-9),
    "goofspiel(4)": (0, 1e-9),
    "goofspiel(5)": (0, 1e-9),
    # Computed apart from this package, to six decimals, with the default rules of `pam`.
    "pam(2,2,4)": (3.5, 1e-9),
    "pam(2,2,4,same_start=False)": (Fraction(11, 3), 1e-9),
    "pam(2,3,6)": (5.162791, 1e-6),
    "pam(2,3,6,same_start=False)": (5.4, 1e-9),
    "pam(3,3,6)": (5.404451, 1e-6),
    "pam(3,3,6,same_start=False)": (5.550076, 1e-6),
}

#: b1 and b2 of the uniform profile, or only their sum, to six decimals.
UNIFORM: dict[str, tuple[float | None, float | None, float]] = {
    "kuhn": (0.5, 5 / 12, 11 / 12),  # computed apart from this package, as all below
    "ocp(100)": (None, None, 0.814394),
    "ocp(500)": (None, None, 0.812876),
    "bluff(1,1,3)": (0.592593, 0.518519, 1.111111),
    "bluff(1,1,4)": (0.683705, 0.626414, 1.310119),
    "bluff(1,1,6)": (
        0.795492,
        0.765997,
        1.561489,
    ),  # half of it is the published 0.780 (Gibson et al. 2012, Figure 3a)
    "goofspiel(3)": (None, None, 4 / 3),
    "goofspiel(4)": (None, None, 17 / 12),
    "goofspiel(5)": (None, None, 1.55),
}


@cache
def built(name: str) -> Game:
    return load(name)


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_published_sizes(name: str, size: tuple[int, int]) -> None:
    assert (built(name).n_nodes, built(name).n_infosets) == size


@pytest.mark.parametrize("name", VALUES)
def test_value_by_linear_program(name: str) -> None:
    value, precision = VALUES[name]
    assert built(name).zero_sum
    assert lp_value(built(name)) == pytest.approx(float(value), abs=precision)


@pytest.mark.parametrize("name", UNIFORM)
def test_uniform_profile(name: str) -> None:
    game = built(name)
    uniform = Strategy.uniform(game)
    *each, total = UNIFORM[name]
    assert exploitability(game, uniform) == pytest.approx(total, abs=1e-6)
    for player, value in enumerate(each):
        if value is not None:
            assert best_response(game, uniform, player).value == pytest.approx(value, abs=1e-6)


def test_uniform_value_of_kuhn() -> None:
    """Player 1 steals a quarter of the pots and player 2 an eighth; showdowns even out."""
    game = built("kuhn")
    np.testing.assert_allclose(
        expected_value(game, Strategy.uniform(game)), [0.125, -0.125], atol=1e-12
    )


def test_leduc_is_the_same_game_with_suits_merged() -> None:
    """A strategy that ignores suits has the same value and the same best responses in both."""
    merged, full = built("leduc(suits=False)"), built("leduc")
    for seed in range(3):
        short = Strategy.random(merged, seed)
        table = {
            label: short.at(label.replace("s", "").replace("h", ""))
            for label in full.infoset_by_name
        }
        same = Strategy.from_table(full, table)
        np.testing.assert_allclose(
            expected_value(full, same), expected_value(merged, short), atol=1e-12
        )
        assert exploitability(full, same) == pytest.approx(exploitability(merged, short), abs=1e-12)


def test_kuhn_is_ocp_with_three_cards() -> None:
    """Node for node the same tree, up to the names and numbers of information sets."""
    kuhn, ocp = built("kuhn"), built("ocp(3)")
    np.testing.assert_array_equal(kuhn.tree.player, ocp.tree.player)
    np.testing.assert_array_equal(kuhn.tree.first_child, ocp.tree.first_child)
    over = kuhn.tree.player == TERMINAL
    np.testing.assert_array_equal(
        kuhn.tree.payoff[kuhn.tree.row[over]], ocp.tree.payoff[ocp.tree.row[over]]
    )
    acting = kuhn.tree.player >= 0
    pairs = set(zip(kuhn.tree.row[acting].tolist(), ocp.tree.row[acting].tolist(), strict=True))
    assert len(pairs) == len(dict(pairs)) == 12
    rank = str.maketrans("JQK", "123")
    for one, two in pairs:
        assert kuhn.labels.infoset[one].translate(rank) == ocp.labels.infoset[two]
        assert kuhn.tree.passive[one] == ocp.tree.passive[two]
    for seed in range(5):
        a = Strategy.random(kuhn, seed)
        b = Strategy.from_table(
            ocp, {row.infoset.translate(rank): row.probabilities for row in a.table()}
        )
        np.testing.assert_allclose(expected_value(kuhn, a), expected_value(ocp, b), atol=1e-14)
        assert exploitability(kuhn, a) == pytest.approx(exploitability(ocp, b), abs=1e-14)


def test_three_player_kuhn_by_hand() -> None:
    """The pot is 3 without a bet, 4 with one, 5 and 6 with more, and the winners get all of it."""
    game = built("kuhn(players=3)")
    assert game.zero_sum
    everyone_passes = {row.infoset: {"pass": 1.0} for row in Strategy.uniform(game).table()}
    np.testing.assert_allclose(
        expected_value(game, Strategy.from_table(game, everyone_passes)), 0.0, atol=1e-12
    )
    bluff = everyone_passes | {
        card: {"bet": 1.0} for card in "TJQK"
    }  # player 1 bets everything, the others fold
    np.testing.assert_allclose(
        expected_value(game, Strategy.from_table(game, bluff)), [2.0, -1.0, -1.0], atol=1e-12
    )
    # Player 1 always bets, player 2 calls, player 3 folds: a coin flip for 3 more, since player 3's
    # ante is dead.
    called = bluff | {f"{card} b": {"bet": 1.0} for card in "TJQK"}
    np.testing.assert_allclose(
        expected_value(game, Strategy.from_table(game, called)), [0.5, 0.5, -1.0], atol=1e-12
    )
    assert set(map(tuple, game.tree.payoff.tolist())) >= {
        (2.0, -1.0, -1.0),
        (3.0, -2.0, -1.0),
        (4.0, -2.0, -2.0),
    }


@pytest.mark.slow
def test_goofspiel_7_fits() -> None:
    """Lanctot et al. 2009, Table 1, exactly; tree and sequence form within 8 GB, measured in a
    process of its own."""
    program = """
import json, resource
from counterplay.core.forms.registry import load
game = load("goofspiel(7)")
size = game.n_nodes, game.n_infosets
tree = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
game.sequence_form
print(json.dumps([*size, tree * 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=900
    )
    nodes, infosets, tree_peak, peak = json.loads(run.stdout)
    assert (nodes, infosets) == GOOFSPIEL_7
    assert tree_peak <= peak <= EIGHT_GB
