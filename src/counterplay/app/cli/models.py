"""The command `model`: how a player plays, learnt from his hands."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterplay.app.cli.display import Said, err, named, out, print_facts, status
from counterplay.app.cli.options import AsJson
from counterplay.core.base.errors import BadParameter

if TYPE_CHECKING:
    from counterplay.core.match.result import MatchResult
    from counterplay.poker.models.model import OpponentModel

VERDICTS = {
    "better": "predicts better than plain frequencies",
    "same": "as good as plain frequencies: his cards hardly matter, or more hands are needed to "
    "see it; both leave a good model",
    "worse": "WORSE than plain frequencies: a bad model; give more hands, or try another --kind",
}
NAME_BYTES = 150  # of a player's name in the name of a file


def model(
    hands: Annotated[
        Path,
        typer.Argument(
            help="Hands: .parquet, .log or .txt of ACPC, .phh, .phhs, also packed (.gz, .bz2), or "
            "a folder of them."
        ),
    ],
    player: Annotated[str, typer.Option(help="Whom to model, by the name in the hands.")],
    kind: Annotated[
        str, typer.Option(help="tree (C4.5, one per phase) or frequency (counts).")
    ] = "tree",
    game: Annotated[
        str, typer.Option(help="Hold'em with the buckets of the model.")
    ] = "holdem(buckets=10)",
    laplace: Annotated[bool, typer.Option(help="Smooth the leaves of the trees.")] = True,
    unseen: Annotated[
        str,
        typer.Option(
            help="Cards not shown: inferred, or fractional (trees: as in J48; counts: as dealt)."
        ),
    ] = "inferred",
    on_error: Annotated[
        str, typer.Option("--on-error", help="A bad hand: refuse the file, or skip the hand.")
    ] = "refuse",
    big_blind: Annotated[
        float | None,
        typer.Option(
            "--big-blind",
            help="Chips of a big blind in an ACPC log (default: as its hands say, or 10).",
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the trees.")] = False,
    target: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Where the model goes (default: PLAYER-KIND.json, what is there is replaced).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn how a player plays from his hands, and say how well the model predicts hands it has not
    seen.

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
    read = read_hands(
        hands,
        on_error,
        lambda message: err.print(f"skipped: {message}") if on_error == "skip" else None,
        big_blind,
    )
    if not len(read):
        raise BadParameter(
            f"{hands}: no hand to learn "
            f"from{f', {len(read.skipped):,} skipped' if read.skipped else ''}"
        )
    loaded = load(game)
    seen = observe(read, player)
    played = sum(player in (hand.dealer, hand.big_blind) for hand in read)
    known, held_out = split(seen)
    if not len(held_out.node) or not len(known.node):
        raise BadParameter(
            f"{player!r} decides in {len(set(seen.hand.tolist()))} of these hands, "
            "too few to learn from some and hold every fifth out; give more"
        )
    learn = partial(learn_model, game=loaded, player=player, kind=kind, laplace=laplace)
    learnt = learn(seen, unseen=unseen)
    save_model(learnt, target)
    try:
        early = learn(known, unseen=unseen)
        quality = assess(early, known, held_out)
        with status("what a response would win"):
            won = _estimate(early, lambda: learn(held_out, unseen=unseen))
    except KeyboardInterrupt:
        err.print(f"stopped; the model is saved in {target}, but nobody knows how good it is.")
        raise typer.Exit(130) from None
    if text and not as_json:
        out.print(learnt.text())
    shown = float((seen.cards[:, 0] >= 0).mean())
    print_facts(
        {
            "player": player,
            "hands": played,
            "hands without a decision": played - learnt.hands,
            "skipped": len(read.skipped),
            "decisions": learnt.decisions,
            named("his cards were seen in", "cards_seen"): Said(
                f"{100 * shown:.0f}% of them", shown
            ),
            named("held out", "held_out_decisions"): Said(
                f"{quality.decisions:,} decisions, every fifth hand", quality.decisions
            ),
            "log loss": quality.log_loss,
            "log loss of plain frequencies": quality.baseline,
            named("likeliest action taken", "accuracy"): Said(
                f"{100 * quality.accuracy:.0f}%", quality.accuracy
            ),
            "verdict": Said(VERDICTS[quality.verdict], quality.verdict),
            "a response would win": _would_win(won),
            "advice": _advice(won, target),
            "saved in": str(target),
        }
        | ({"text": learnt.text()} if text and as_json else {}),
        as_json,
    )


def _estimate(early: OpponentModel, late: Callable[[], OpponentModel]) -> MatchResult:
    """What a response to a model of the other hands wins from one of the hands held out."""
    from counterplay.poker.adaptive.response import quick_response_value

    return quick_response_value(early, late())


def _would_win(won: MatchResult) -> Said:
    """About what a response wins, in words; both models were learnt from unlike hands."""
    half = (won.interval[1] - won.interval[0]) / 2
    text = f"about {won.mean:+.2f} ± {half:.2f} sb/h from the player of the hands held out"
    return Said(text, won.mean)


def _advice(won: MatchResult, target: Path) -> Said:
    if won.interval[0] > 0:
        words = shlex.join(["counterplay", "respond", str(target)])
        return Said(f"respond to it: {words}", "respond")
    return Said("do not bet on it before there are more hands", "more hands")


def _model_file(hands: Path, target: Path | None, player: str, kind: str) -> Path:
    """Where the model goes: what was said, or a short file name made of the player's; never over
    the hands."""
    clean = "".join(c if c.isalnum() or c in "-_" else "_" for c in player)
    target = target or Path(f"{clean.encode()[:NAME_BYTES].decode(errors='ignore')}-{kind}.json")
    if os.path.isdir(target):  # not Path.is_dir, which fails where a name is too long
        raise BadParameter(f"{target} is a folder; give --out the name of a file")
    if os.path.exists(target) and os.path.exists(hands) and os.path.samefile(target, hands):
        raise BadParameter(f"{target} holds the hands; give --out another name")
    return target
