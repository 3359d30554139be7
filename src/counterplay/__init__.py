"""Equilibria and robust counter-strategies in imperfect-information games, by sampling and exactly.

import counterplay as cp
run = cp.solve("kuhn", "mccfr", iterations=1_000_000, seed=1)
print(cp.exploitability(run.game, run.strategy))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterplay.app.reproduction.harness.base import Outcome as Outcome
    from counterplay.app.reproduction.harness.reproduce import reproduce as reproduce
    from counterplay.app.reproduction.harness.reproduce import reproduce_all as reproduce_all
    from counterplay.core.base.errors import CounterplayError as CounterplayError
    from counterplay.core.base.errors import Interrupted as Interrupted
    from counterplay.core.base.progress import ProgressBar as ProgressBar
    from counterplay.core.base.progress import show_progress as show_progress
    from counterplay.core.evaluation.exact import BestResponse as BestResponse
    from counterplay.core.evaluation.exact import best_response as best_response
    from counterplay.core.evaluation.exact import expected_value as expected_value
    from counterplay.core.forms.checks import Checked as Checked
    from counterplay.core.forms.checks import check as check
    from counterplay.core.forms.game import Game as Game
    from counterplay.core.forms.mixture import Mixture as Mixture
    from counterplay.core.forms.registry import load as load
    from counterplay.core.forms.rules import CompiledRules as CompiledRules
    from counterplay.core.forms.strategy import Strategy as Strategy
    from counterplay.core.forms.tree import CHANCE as CHANCE
    from counterplay.core.forms.tree import TERMINAL as TERMINAL
    from counterplay.core.games.gambit_write import save_game as save_game
    from counterplay.core.games.kuhn import kuhn_errors as kuhn_errors
    from counterplay.core.games.locks import locked as locked
    from counterplay.core.match.play import play_match as play_match
    from counterplay.core.match.result import MatchResult as MatchResult
    from counterplay.core.parallel.ray_cluster import on_ray as on_ray
    from counterplay.core.responses.algorithms import confidence as confidence
    from counterplay.core.responses.frontier import Frontier as Frontier
    from counterplay.core.responses.frontier import frontier as frontier
    from counterplay.core.responses.frontier import resume_frontier as resume_frontier
    from counterplay.core.responses.respond import respond as respond
    from counterplay.core.responses.respond import resume_response as resume_response
    from counterplay.core.responses.result import Response as Response
    from counterplay.core.responses.safe import SafePlayer as SafePlayer
    from counterplay.core.responses.several import SeveralResponse as SeveralResponse
    from counterplay.core.solvers.measures import exploitability as exploitability
    from counterplay.core.solvers.measures import game_value as game_value
    from counterplay.core.solvers.run import Run as Run
    from counterplay.core.solvers.run import resume as resume
    from counterplay.core.solvers.run import solve as solve
    from counterplay.core.solvers.run import version as version
    from counterplay.poker.acpc.client import play_acpc as play_acpc
    from counterplay.poker.acpc.plan import DealerLimits as DealerLimits
    from counterplay.poker.acpc.plan import MatchPlan as MatchPlan
    from counterplay.poker.acpc.player import AcpcPlayer as AcpcPlayer
    from counterplay.poker.acpc.program import AcpcProgram as AcpcProgram
    from counterplay.poker.acpc.protocol import acpc_cards as acpc_cards
    from counterplay.poker.acpc.server import acpc_seat as acpc_seat
    from counterplay.poker.acpc.server import deal_acpc as deal_acpc
    from counterplay.poker.adaptive.play import AdaptiveBlock as AdaptiveBlock
    from counterplay.poker.adaptive.play import play_adaptive as play_adaptive
    from counterplay.poker.adaptive.player import Adaptive as Adaptive
    from counterplay.poker.adaptive.player import AdaptiveStanding as AdaptiveStanding
    from counterplay.poker.adaptive.portfolio import portfolio as portfolio
    from counterplay.poker.adaptive.portfolio_members import Portfolio as Portfolio
    from counterplay.poker.bots.bot import Bot as Bot
    from counterplay.poker.bots.bot import Ending as Ending
    from counterplay.poker.bots.bot import View as View
    from counterplay.poker.bots.bot import ending as ending
    from counterplay.poker.bots.bot import settle as settle
    from counterplay.poker.bots.bot import view as view
    from counterplay.poker.bots.shipped import ShippedStrategy as ShippedStrategy
    from counterplay.poker.bots.shipped import strategies as strategies
    from counterplay.poker.exam.exact import Grade as Grade
    from counterplay.poker.exam.exact import grade as grade
    from counterplay.poker.exam.holdem import exam as exam
    from counterplay.poker.exam.result import Exam as Exam
    from counterplay.poker.exam.text import TextPlayer as TextPlayer
    from counterplay.poker.histories.read import read_hands as read_hands
    from counterplay.poker.models.model import OpponentModel as OpponentModel
    from counterplay.poker.models.model import learn_model as learn_model
    from counterplay.poker.models.model import load_model as load_model
    from counterplay.poker.models.model import save_model as save_model
    from counterplay.poker.models.observe import observe as observe
    from counterplay.poker.players import bot as bot
    from counterplay.poker.spots.game import spot as spot
    from counterplay.poker.spots.positions import HoldemPosition as HoldemPosition
    from counterplay.poker.spots.positions import Resolved as Resolved
    from counterplay.poker.spots.positions import hold_position as hold_position
    from counterplay.poker.spots.positions import resolve as resolve
    from counterplay.poker.spots.responses import LockedResponse as LockedResponse
    from counterplay.poker.spots.responses import lock_frontier as lock_frontier
    from counterplay.poker.spots.responses import respond_to_locks as respond_to_locks
    from counterplay.poker.spots.view import SpotView as SpotView
    from counterplay.poker.spots.view import spot_view as spot_view
    from counterplay.poker.vector.policy import VectorPolicy as VectorPolicy

# Loaded on first use, so that `import counterplay` costs nothing.
_WHERE = {
    "on_ray": "core.parallel.ray_cluster",
    "AcpcPlayer": "poker.acpc.player",
    "AcpcProgram": "poker.acpc.program",
    "Exam": "poker.exam.result",
    "Grade": "poker.exam.exact",
    "TextPlayer": "poker.exam.text",
    "exam": "poker.exam.holdem",
    "grade": "poker.exam.exact",
    "Adaptive": "poker.adaptive.player",
    "AdaptiveBlock": "poker.adaptive.play",
    "DealerLimits": "poker.acpc.plan",
    "MatchPlan": "poker.acpc.plan",
    "MatchResult": "core.match.result",
    "acpc_cards": "poker.acpc.protocol",
    "deal_acpc": "poker.acpc.server",
    "play_acpc": "poker.acpc.client",
    "acpc_seat": "poker.acpc.server",
    "Portfolio": "poker.adaptive.portfolio_members",
    "AdaptiveStanding": "poker.adaptive.player",
    "play_adaptive": "poker.adaptive.play",
    "play_match": "core.match.play",
    "portfolio": "poker.adaptive.portfolio",
    "OpponentModel": "poker.models.model",
    "HoldemPosition": "poker.spots.positions",
    "LockedResponse": "poker.spots.responses",
    "Resolved": "poker.spots.positions",
    "hold_position": "poker.spots.positions",
    "resolve": "poker.spots.positions",
    "SpotView": "poker.spots.view",
    "VectorPolicy": "poker.vector.policy",
    "bot": "poker.players",
    "learn_model": "poker.models.model",
    "load_model": "poker.models.model",
    "observe": "poker.models.observe",
    "read_hands": "poker.histories.read",
    "save_model": "poker.models.model",
    "Bot": "poker.bots.bot",
    "Ending": "poker.bots.bot",
    "View": "poker.bots.bot",
    "ShippedStrategy": "poker.bots.shipped",
    "strategies": "poker.bots.shipped",
    "ending": "poker.bots.bot",
    "settle": "poker.bots.bot",
    "view": "poker.bots.bot",
    "CounterplayError": "core.base.errors",
    "Interrupted": "core.base.errors",
    "ProgressBar": "core.base.progress",
    "show_progress": "core.base.progress",
    "BestResponse": "core.evaluation.exact",
    "best_response": "core.evaluation.exact",
    "expected_value": "core.evaluation.exact",
    "exploitability": "core.solvers.measures",
    "kuhn_errors": "core.games.kuhn",
    "Outcome": "app.reproduction.harness.base",
    "reproduce": "app.reproduction.harness.reproduce",
    "reproduce_all": "app.reproduction.harness.reproduce",
    "Checked": "core.forms.checks",
    "CompiledRules": "core.forms.rules",
    "check": "core.forms.checks",
    "Game": "core.forms.game",
    "Mixture": "core.forms.mixture",
    "Strategy": "core.forms.strategy",
    "CHANCE": "core.forms.tree",
    "TERMINAL": "core.forms.tree",
    "load": "core.forms.registry",
    "lock_frontier": "poker.spots.responses",
    "save_game": "core.games.gambit_write",
    "Frontier": "core.responses.frontier",
    "Response": "core.responses.result",
    "SafePlayer": "core.responses.safe",
    "SeveralResponse": "core.responses.several",
    "confidence": "core.responses.algorithms",
    "frontier": "core.responses.frontier",
    "game_value": "core.solvers.measures",
    "locked": "core.games.locks",
    "respond": "core.responses.respond",
    "respond_to_locks": "poker.spots.responses",
    "resume_frontier": "core.responses.frontier",
    "resume_response": "core.responses.respond",
    "Run": "core.solvers.run",
    "resume": "core.solvers.run",
    "solve": "core.solvers.run",
    "spot": "poker.spots.game",
    "spot_view": "poker.spots.view",
    "version": "core.solvers.run",
}
__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'counterplay' has no attribute {name!r}")
    module, _, other = _WHERE[name].partition(":")
    value = getattr(import_module(f"counterplay.{module}"), other or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
