"""Equilibria and robust counter-strategies in imperfect-information games, by sampling and exactly.

import counterplay as cp
run = cp.solve("kuhn", "mccfr", iterations=1_000_000, seed=1)
print(cp.exploitability(run.game, run.strategy))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterplay.acpc.client import play_acpc as play_acpc
    from counterplay.acpc.dealer import DealerLimits as DealerLimits
    from counterplay.acpc.dealer import MatchPlan as MatchPlan
    from counterplay.acpc.player import AcpcPlayer as AcpcPlayer
    from counterplay.acpc.programs import sitter as sitter
    from counterplay.acpc.protocol import acpc_cards as acpc_cards
    from counterplay.acpc.server import deal_acpc as deal_acpc
    from counterplay.adaptive.play import AdaptiveBlock as AdaptiveBlock
    from counterplay.adaptive.play import play_adaptive as play_adaptive
    from counterplay.adaptive.player import Adaptive as Adaptive
    from counterplay.adaptive.player import AdaptiveStanding as AdaptiveStanding
    from counterplay.adaptive.portfolio import Portfolio as Portfolio
    from counterplay.adaptive.portfolio import portfolio as portfolio
    from counterplay.base.display import ProgressBar as ProgressBar
    from counterplay.base.errors import CounterplayError as CounterplayError
    from counterplay.base.errors import Interrupted as Interrupted
    from counterplay.evaluation.exact import BestResponse as BestResponse
    from counterplay.evaluation.exact import best_response as best_response
    from counterplay.evaluation.exact import expected_value as expected_value
    from counterplay.evaluation.kuhn import kuhn_errors as kuhn_errors
    from counterplay.experiments.harness.base import Outcome as Outcome
    from counterplay.experiments.harness.campaign import reproduce_all as reproduce_all
    from counterplay.experiments.harness.registry import reproduce as reproduce
    from counterplay.forms.checks import Checked as Checked
    from counterplay.forms.checks import check as check
    from counterplay.forms.game import Game as Game
    from counterplay.forms.mixture import Mixture as Mixture
    from counterplay.forms.registry import load as load
    from counterplay.forms.rules import CompiledRules as CompiledRules
    from counterplay.forms.strategy import Strategy as Strategy
    from counterplay.forms.tree import CHANCE as CHANCE
    from counterplay.forms.tree import TERMINAL as TERMINAL
    from counterplay.games.gambit_write import save_game as save_game
    from counterplay.match.play import play_match as play_match
    from counterplay.match.result import MatchResult as MatchResult
    from counterplay.opponents.bots.bot import Bot as Bot
    from counterplay.opponents.bots.bot import Ending as Ending
    from counterplay.opponents.bots.bot import View as View
    from counterplay.opponents.bots.text import ending as ending
    from counterplay.opponents.bots.text import settle as settle
    from counterplay.opponents.bots.text import view as view
    from counterplay.opponents.hands.parquet import read_any as read_hands  # noqa: F401
    from counterplay.opponents.models.file import load_model as load_model
    from counterplay.opponents.models.file import save_model as save_model
    from counterplay.opponents.models.model import OpponentModel as OpponentModel
    from counterplay.opponents.models.model import learn_model as learn_model
    from counterplay.opponents.models.observe import observe as observe
    from counterplay.opponents.players import bot as bot
    from counterplay.parallel.ray_cluster import on_ray as on_ray
    from counterplay.responses.confidence import confidence as confidence
    from counterplay.responses.frontier import Frontier as Frontier
    from counterplay.responses.frontier import frontier as frontier
    from counterplay.responses.respond import respond as respond
    from counterplay.responses.result import Response as Response
    from counterplay.responses.resume import resume_response as resume_response
    from counterplay.responses.safe import SafePlayer as SafePlayer
    from counterplay.solvers.measures import exploitability as exploitability
    from counterplay.solvers.run import Run as Run
    from counterplay.solvers.run import resume as resume
    from counterplay.solvers.run import solve as solve
    from counterplay.solvers.run import version as version
    from counterplay.solvers.value import game_value as game_value

# Loaded on first use, so that `import counterplay` costs nothing.
_WHERE = {
    "on_ray": "parallel.ray_cluster",
    "AcpcPlayer": "acpc.player",
    "Adaptive": "adaptive.player",
    "AdaptiveBlock": "adaptive.play",
    "DealerLimits": "acpc.dealer",
    "MatchPlan": "acpc.dealer",
    "MatchResult": "match.result",
    "acpc_cards": "acpc.protocol",
    "deal_acpc": "acpc.server",
    "play_acpc": "acpc.client",
    "sitter": "acpc.programs",
    "Portfolio": "adaptive.portfolio",
    "AdaptiveStanding": "adaptive.player",
    "play_adaptive": "adaptive.play",
    "play_match": "match.play",
    "portfolio": "adaptive.portfolio",
    "OpponentModel": "opponents.models.model",
    "bot": "opponents.players",
    "learn_model": "opponents.models.model",
    "load_model": "opponents.models.file",
    "observe": "opponents.models.observe",
    "read_hands": "opponents.hands.parquet:read_any",
    "save_model": "opponents.models.file",
    "Bot": "opponents.bots.bot",
    "Ending": "opponents.bots.bot",
    "View": "opponents.bots.bot",
    "ending": "opponents.bots.text",
    "settle": "opponents.bots.text",
    "view": "opponents.bots.text",
    "CounterplayError": "base.errors",
    "Interrupted": "base.errors",
    "ProgressBar": "base.display",
    "BestResponse": "evaluation.exact",
    "best_response": "evaluation.exact",
    "expected_value": "evaluation.exact",
    "exploitability": "solvers.measures",
    "kuhn_errors": "evaluation.kuhn",
    "Outcome": "experiments.harness.base",
    "reproduce": "experiments.harness.registry",
    "reproduce_all": "experiments.harness.campaign",
    "Checked": "forms.checks",
    "CompiledRules": "forms.rules",
    "check": "forms.checks",
    "Game": "forms.game",
    "Mixture": "forms.mixture",
    "Strategy": "forms.strategy",
    "CHANCE": "forms.tree",
    "TERMINAL": "forms.tree",
    "load": "forms.registry",
    "save_game": "games.gambit_write",
    "Frontier": "responses.frontier",
    "Response": "responses.result",
    "SafePlayer": "responses.safe",
    "confidence": "responses.confidence",
    "frontier": "responses.frontier",
    "game_value": "solvers.value",
    "respond": "responses.respond",
    "resume_response": "responses.resume",
    "Run": "solvers.run",
    "resume": "solvers.run",
    "solve": "solvers.run",
    "version": "solvers.run",
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
