"""`grade`: an exact exam in a small game, decision by decision.

The player is asked at every information set, a text player several times. Its answers are a
strategy σ, of which everything is computed exactly. The loss of a decision against an opponent is

    Σ_a σ(I, a) (max_b Q(I, b) - Q(I, a)) · π(I),

Q the payoff of an action if play is best from then on, π(I) the probability that σ and the opponent
come to I. Summed over the decisions of a seat it is exactly what σ wins less than a best response.
There are two opponents: an equilibrium, and a best response to σ. Of all equilibria it is the one
that wins the most from uniform play, since others forgive mistakes; by a linear program, to 1e-9 of
the payoff range.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from counterplay.core.base.display import Columns, Tabular
from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress, progress_bar
from counterplay.core.base.version import version
from counterplay.core.evaluation.exact import best_response, expected_value, infoset_values
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.players import players_of
from counterplay.core.responses.respond import respond
from counterplay.poker.exam.text import TextPlayer, player_or_text, read_word, state_text

MOST_INFOSETS = 5_000
MOST_DRAWN = 12  # decisions in a picture
TINY = 1e-12  # a loss that is rounding
TIE = 1e-7  # actions that are this close are equal: the equilibrium is that of a linear program


@dataclass(frozen=True)
class GradedDecision:
    """One information set, and what the player does there."""

    player: int
    infoset: str
    answer: dict[str, float]  # the share of each action
    best: str  # the best action against the equilibrium, if play is best from then on
    loss_equilibrium: float  # per game, by the probability to come here
    loss_best_response: float
    reach: float  # the probability to come here, against the equilibrium
    illegal: int = 0  # answers that named no legal action


@dataclass(frozen=True, repr=False)
class Grade(Tabular):
    """The result of an exact exam; payoffs and losses are per game."""

    game: str
    player: str
    decisions: tuple[GradedDecision, ...]
    values: tuple[float, float]  # against the equilibrium, as player 1 and as player 2
    game_value: float  # of player 1
    loss_equilibrium: float  # the sum of both seats
    loss_best_response: float  # the same against a best response to the player
    exploitability: float  # b1 + b2
    asked: int  # answers
    illegal: int
    mean_ms: float  # time of an answer
    seconds: float
    version: str
    strategy: Strategy

    def __repr__(self) -> str:
        return (
            f"Grade({self.player} in {self.game}: loses {self.loss_equilibrium:.4g} per two games "
            f"against an equilibrium, exploitability {self.exploitability:.4g}, {self.illegal} of "
            f"{self.asked} answers illegal)"
        )

    def columns(self) -> Columns:
        """A row for each decision, the costliest against the equilibrium first."""
        rows = [asdict(one) for one in self.worst()]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _figure(self) -> Any:
        from counterplay.core.base.plotting import COLOURS, new_figure

        shown_ones = self.worst()[:MOST_DRAWN][::-1]
        figure, axes = new_figure(1, 1, 6.5, 1.2 + 0.3 * len(shown_ones))
        losses, places = [one.loss_equilibrium for one in shown_ones], range(len(shown_ones))
        axes[0, 0].barh(list(places), losses, color=COLOURS[0])
        names = [f"{one.infoset} (player {one.player + 1})" for one in shown_ones]
        title = f"{self.player} in {self.game}"
        label = "lost to the equilibrium, per game"
        axes[0, 0].set(yticks=list(places), yticklabels=names, xlabel=label, title=title)
        return figure

    def _repr_html_(self) -> str:
        from counterplay.poker.exam.report import body

        return body(self)

    def worst(self) -> list[GradedDecision]:
        """The decisions, the costliest first."""
        return sorted(
            self.decisions, key=lambda d: (-d.loss_equilibrium, -d.loss_best_response, d.infoset)
        )

    def facts(self) -> dict[str, Any]:
        """Everything but the strategy, for JSON."""
        facts = {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name not in ("strategy", "decisions")
        }
        return facts | {"decisions": [asdict(one) for one in self.worst()], "unit": "per game"}


def grade(
    game: Game | str,
    player: Any,
    times: int = 1,
    *,
    progress: ProgressCallback = no_progress,
) -> Grade:
    """Examines a player of a small two-player game exactly: any player of `play_match` in it, a
    `TextPlayer`, or `text:COMMAND` and `text:file.py:function`, which make one.

    A text player is asked `times` times at every information set. Ctrl-C while it is asked raises
    `KeyboardInterrupt`; nothing is graded before all answers are there.
    """
    game = as_game(game, player)
    whole_number(times, 1, 10_000, "times")
    _check(game)
    begun, asked, illegal, spent = time.perf_counter(), 0, np.zeros(game.n_infosets, int), 0.0
    with progress_bar(progress) as progress:
        found = player_or_text(player)
        if isinstance(found, TextPlayer):
            name = found.name
            try:
                strategy, illegal, spent = _asked(game, found, times, progress)
                found.finish()
            finally:
                found.close()
            asked = times * game.n_infosets
        else:
            if times != 1:
                raise BadParameter("times is for text players; this one gives its probabilities")
            strategy = players_of(game).strategy(found, progress)
            name = str(player) if isinstance(player, str) else "the player"
        progress(1.0, "losses")
        return _graded(game, strategy, name, illegal, asked, spent, begun)


def _check(game: Game) -> None:
    if game.n_players != 2 or not game.zero_sum or not game.capabilities.full_width:
        raise BadParameter(f"an exact exam is in a small game of two players, not {game.name}")
    if not game.perfect_recall or game.n_infosets > MOST_INFOSETS:
        raise BadParameter(
            f"{game.name} has {game.n_infosets:,} information sets; an exact exam asks about all, "
            f"at most {MOST_INFOSETS:,}, in a game of perfect recall"
        )


def _asked(
    game: Game, player: TextPlayer, times: int, progress: ProgressCallback
) -> tuple[Strategy, np.ndarray, float]:
    """The answers as a strategy, how many were illegal at each information set, and the time."""
    first, weights, illegal = game.form.first, np.zeros(game.n_slots), []
    spent, owner, passive = 0.0, game.tree.owner, game.tree.passive
    for infoset, label in enumerate(game.infoset_names):
        low, high = int(first[infoset]), int(first[infoset + 1])
        actions = list(game.labels.action[low:high])
        text = state_text(game, int(owner[infoset]), label, actions)
        wrong = 0
        for _ in range(times):
            before = time.perf_counter()
            word = read_word(player.ask(text), actions)
            spent += time.perf_counter() - before
            wrong += word is None
            k = max(int(passive[infoset]), 0) if word is None else actions.index(word)
            weights[low + k] += 1.0
        illegal.append(wrong)
        progress((infoset + 1) / game.n_infosets, f"{infoset + 1} of {game.n_infosets} states")
    return Strategy.from_weights(game, weights), np.array(illegal), spent


def _graded(
    game: Game, strategy: Strategy, name: str, illegal: np.ndarray, asked: int, spent: float,
    begun: float,
) -> Grade:  # fmt: skip
    if strategy.player is not None:
        raise BadParameter("an exam is in both seats, and this is a response for one")
    equilibrium = demanding_equilibrium(game)
    responses = [best_response(game, strategy, player) for player in (0, 1)]
    replies = responses[0].strategy, responses[1].strategy
    assert replies[0] is not None
    assert replies[1] is not None
    hardest = replies[0].replace(replies[1], 1)
    fair = [_losses(game, strategy, equilibrium, player) for player in (0, 1)]
    hard = [_losses(game, strategy, hardest, player) for player in (0, 1)]
    decisions, first = [], game.form.first
    for infoset, label in enumerate(game.infoset_names):
        player = int(game.tree.owner[infoset])
        low, high = int(first[infoset]), int(first[infoset + 1])
        actions, losses = list(game.labels.action[low:high]), fair[player]
        values = np.nan_to_num(losses.action_value[low:high], nan=-np.inf)
        best = (values >= values.max() - TIE).argmax()  # the first of equals
        shares = dict(zip(actions, strategy.probabilities[low:high].tolist(), strict=True))
        cost = float(losses.loss[infoset]), float(hard[player].loss[infoset])
        reach = float(losses.reach[infoset])
        wrong = int(illegal[infoset])
        decisions.append(GradedDecision(player, label, shares, actions[best], *cost, reach, wrong))
    won = tuple(
        float(expected_value(game, equilibrium.replace(strategy, player))[player])
        for player in (0, 1)
    )
    return Grade(
        game=game.name,
        player=name,
        decisions=tuple(decisions),
        values=(won[0], won[1]),
        game_value=float(expected_value(game, equilibrium)[0]),
        loss_equilibrium=sum(one.loss_equilibrium for one in decisions),
        loss_best_response=sum(one.loss_best_response for one in decisions),
        exploitability=sum(response.value for response in responses),
        asked=asked,
        illegal=int(illegal.sum()),
        mean_ms=1000.0 * spent / max(asked, 1),
        seconds=time.perf_counter() - begun,
        version=version(),
        strategy=strategy,
    )


def demanding_equilibrium(game: Game) -> Strategy:
    """The equilibrium that wins the most from uniform play."""
    options: dict[str, Any] = {"algorithm": "rnr", "engine": "lp", "max_exploitability": 0}
    found = respond(game, Strategy.uniform(game), None, **options).strategy
    assert isinstance(found, Strategy)
    return found


@dataclass(frozen=True)
class _Losses:
    action_value: np.ndarray  # float64[slots]: Q
    loss: np.ndarray  # float64[information sets]
    reach: np.ndarray  # float64[information sets]


def _losses(game: Game, strategy: Strategy, opponent: Strategy, player: int) -> _Losses:
    """What each decision of `player` loses against `opponent`, by play that is best afterwards."""
    best = best_response(game, opponent, player).strategy
    assert best is not None
    q = infoset_values(game, best.probabilities).action_value  # of the best play afterwards
    met = infoset_values(game, opponent.replace(strategy, player).probabilities).reach
    first, own = game.form.first, game.tree.owner == player
    known = np.nan_to_num(q)
    most = np.maximum.reduceat(known, first[:-1])
    mean = np.add.reduceat(known * strategy.probabilities, first[:-1])
    loss = np.where(own, met * np.maximum(most - mean, 0.0), 0.0)
    loss[loss < TINY] = 0.0
    return _Losses(q, loss, met)
