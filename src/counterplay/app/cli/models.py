"""Commands of hold'em: `model`, an opponent model learnt from hand histories, and `holdem prepare`,
the tables of hand strength and what bots need."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli.display import (
    Worded,
    err,
    named,
    out,
    print_facts,
    share_progress,
    status,
    suggested,
)
from counterplay.app.cli.options import AsJson, Command, Ray, use_ray
from counterplay.core.base.errors import BadParameter

if TYPE_CHECKING:
    from counterplay.core.base.progress import ProgressCallback
    from counterplay.core.match.result import MatchResult
    from counterplay.poker.bots.registry import BotSpec
    from counterplay.poker.models.model import OpponentModel

holdem = typer.Typer(
    help="Build the tables of hold'em.", no_args_is_help=True, rich_markup_mode=None
)
VERDICTS = {
    "better": "predicts better than plain frequencies",
    "same": "predicts as well as plain frequencies: the cards hardly matter, or more hands are "
    "needed to see that they do",
    "worse": "predicts WORSE than plain frequencies: give more hands, or try another --kind",
}
NAME_BYTES = 150  # of a player's name in a file name


def model(
    hands: Annotated[
        Path,
        Argument(
            help="Hand histories: .parquet, .log or .txt of ACPC, .phh, .phhs, .txt of PokerStars "
            "or Full Tilt, also compressed (.gz, .bz2), or a folder of them."
        ),
    ],
    player: Annotated[str, Option(help="The player to model, by the name in the hands.")],
    kind: Annotated[str, Option(help="tree (C4.5, one per round) or frequency (counts).")] = "tree",
    game: Annotated[
        str, Option(help="The game whose buckets the model uses.")
    ] = "holdem(buckets=10)",
    laplace: Annotated[bool, Option(help="Smooth the leaves of the trees.")] = True,
    unseen: Annotated[
        str,
        Option(help="Unseen cards: inferred, or fractional (trees: as in J48; counts: as dealt)."),
    ] = "inferred",
    on_error: Annotated[
        str, Option("--on-error", help="At a damaged hand: refuse the file, or skip the hand.")
    ] = "refuse",
    big_blind: Annotated[
        float | None,
        Option(
            "--big-blind",
            help="Chips of a big blind in an ACPC log (default: from its hands, or 10).",
        ),
    ] = None,
    text: Annotated[bool, Option("--text", help="Print the trees.")] = False,
    target: Annotated[
        Path | None,
        Option("--out", help="File of the model, overwritten (default: PLAYER-KIND.json)."),
    ] = None,
    locks: Annotated[
        Path | None,
        Option(help="Also write what was counted as locks, for respond --lock and spot --lock."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn an opponent model from hand histories. Measure how well it predicts unseen hands.

    For example: counterplay match probe poki -n 20000 --log hands.parquet --observer a

    and then: counterplay model hands.parquet --player poki
    """
    from counterplay.core.forms.registry import load
    from counterplay.poker.histories.read import read_hands
    from counterplay.poker.models.model import learn_model, save_model
    from counterplay.poker.models.observe import observe
    from counterplay.poker.models.quality import assess, split

    target = _model_file(hands, target, player, kind)
    if kind == "frequency" and not laplace:
        raise BadParameter("--no-laplace is for the leaves of trees; a frequency model has none")

    def skipped(message: str) -> None:
        if on_error == "skip":
            err.print(f"skipped: {message}")

    read = read_hands(hands, on_error, skipped, big_blind)
    if not len(read):
        count = f", {len(read.skipped):,} skipped" if read.skipped else ""
        raise BadParameter(f"{hands}: no hand to learn from{count}")
    loaded = load(game)
    seen = observe(read, player)
    if locks is not None:
        _write_locks(read, player, locks)
    played = sum(player in (hand.dealer, hand.big_blind) for hand in read)
    training, held_out = split(seen)
    if not len(held_out.node) or not len(training.node):
        raise BadParameter(
            f"{player!r} decides in {len(set(seen.hand.tolist()))} of these hands, "
            "too few to hold every fifth out; give more"
        )
    learn = partial(learn_model, game=loaded, player=player, kind=kind, laplace=laplace)
    learnt = learn(seen, unseen=unseen)
    save_model(learnt, target)
    try:
        trained = learn(training, unseen=unseen)
        quality = assess(trained, training, held_out)
        with status("estimating what a response would win"):
            won = _estimate(trained, lambda: learn(held_out, unseen=unseen))
    except KeyboardInterrupt:
        err.print(f"stopped; the model is saved in {target}, but its quality was not measured.")
        raise typer.Exit(130) from None
    if text and not as_json:
        out.print(learnt.text())
    shown, half = float((seen.cards[:, 0] >= 0).mean()), (won.interval[1] - won.interval[0]) / 2
    command = suggested("respond", str(target), game=game)
    print_facts(
        {
            "player": player,
            "hands": played,
            "hands without a decision": played - learnt.hands,
            "skipped": len(read.skipped),
            "decisions": learnt.decisions,
            named("cards seen in", "cards_seen"): Worded(f"{100 * shown:.0f}% of them", shown),
            named("held out", "held_out_decisions"): Worded(
                f"{quality.decisions:,} decisions, every fifth hand", quality.decisions
            ),
            "log loss": quality.log_loss,
            "log loss of plain frequencies": quality.baseline,
            named("likeliest action taken", "accuracy"): Worded(
                f"{100 * quality.accuracy:.0f}%", quality.accuracy
            ),
            "verdict": Worded(VERDICTS[quality.verdict], quality.verdict),
            "a response would win": Worded(
                f"about {won.mean:+.2f} ± {half:.2f} sb/h (95%) from the model of the hands "
                f"held out",
                won.mean,
            ),
            "advice": Worded(f"respond to it: {command}", "respond")
            if won.interval[0] > 0
            else Worded("collect more hands before you rely on it", "more hands"),
            "saved in": str(target),
        }
        | ({"locks": str(locks)} if locks is not None else {})
        | ({"text": learnt.text()} if text and as_json else {}),
        as_json,
    )


def _write_locks(hands: Any, player: str, target: Path) -> None:
    from counterplay.core.base.files import write_text
    from counterplay.poker.models.tendencies import TendencyCounts, counted_locks

    if target.suffix != ".toml":
        raise BadParameter(f"--locks: a file of locks ends in .toml, not {target.name!r}")
    write_text(target, counted_locks(TendencyCounts(hands, player), player))


def _estimate(trained: OpponentModel, held_out: Callable[[], OpponentModel]) -> MatchResult:
    """What a response to the model of the training hands wins from that of the hands held out."""
    from counterplay.poker.adaptive.response import quick_response_value

    return quick_response_value(trained, held_out())


def _model_file(hands: Path, target: Path | None, player: str, kind: str) -> Path:
    """The file of the model: `target`, or a name made of the player's; never that of the hands."""
    clean = "".join(c if c.isalnum() or c in "-_" else "_" for c in player)
    target = target or Path(f"{clean.encode()[:NAME_BYTES].decode(errors='ignore')}-{kind}.json")
    if os.path.isdir(target):  # not Path.is_dir, which fails where a name is too long
        raise BadParameter(f"{target} is a folder; give --out the name of a file")
    if os.path.exists(target) and os.path.exists(hands) and os.path.samefile(target, hands):
        raise BadParameter(f"{target} holds the hands; give --out another name")
    return target


@holdem.callback()
def _holdem() -> None: ...


@holdem.command(cls=Command)
def prepare(
    players: Annotated[
        list[str] | None,
        Argument(help="Bots to prepare, or all (default: the safest of the shipped strategies)."),
    ] = None,
    only_tables: Annotated[
        bool, Option("--tables", help="Only the tables of hand strengths, which all share.")
    ] = False,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Build the tables of hold'em in advance, so that the first hand is dealt at once.

    For example: counterplay holdem prepare poki sparbot
    """
    from counterplay.poker.bots.registry import BOTS
    from counterplay.poker.bots.shipped import strategies
    from counterplay.poker.cards import strength

    if only_tables and players:
        raise BadParameter("--tables prepares no bot; leave out --tables or the bots")
    safest = min(strategies(), key=lambda one: one.exploitability).name
    names = list(BOTS) if players == ["all"] else players or [safest]
    specs = [] if only_tables else [BOTS.find(name) for name in names]
    use_ray(ray)
    before = time.perf_counter()
    ready = strength.TABLES.read() is not None
    with share_progress("hold'em tables") as progress:
        strength.strengths(progress)
    for spec in specs:
        with share_progress(f"preparing {spec.name}") as progress:
            _prepare_bot(spec, progress)
    size = strength.TABLES.size_on_disk()
    facts: dict[str, Any] = {
        "tables": "were ready" if ready else "built",
        "players": Worded(", ".join(names), names) if specs else "none",
        "seconds": time.perf_counter() - before,
        "megabytes on disk": size / 1e6 if size else "none: the cache folder cannot be written",
        "folder": str(strength.TABLES.slot().path.parent),
    }
    print_facts(facts, as_json)


def _prepare_bot(spec: BotSpec, progress: ProgressCallback) -> None:
    """Builds the tables of a bot, and compiles what a table in the browser needs."""
    from counterplay.app.web.play.prepare import warm_up

    spec.prepare(progress)
    progress(1.0, f"{spec.name}: compiling, the first time only")
    warm_up(spec.make())
