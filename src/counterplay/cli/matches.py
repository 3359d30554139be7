"""The commands about hold'em and matches: `match`, `model`, `show`, `holdem prepare`."""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from counterplay.base.errors import BadParameter, Interrupted
from counterplay.cli.display import err, out, print_facts, seat_text, share_progress
from counterplay.cli.support import AsJson, read_strategy, refuse_given

if TYPE_CHECKING:
    from counterplay.arena.result import MatchResult
    from counterplay.forms.game import Game

PLAYER_HELP = "A strategy file, a run folder, or a bot: {bots}."
NAME_BYTES = 150  # of a player's name in the name of a file
LEARN_EVERY = 1_000  # hands
THINKING = 6_000_000  # iterations per 1,000 hands
holdem = typer.Typer(help="Hold'em tables.", no_args_is_help=True, rich_markup_mode=None)


def match(
    a: Annotated[str, typer.Argument(help=PLAYER_HELP)],
    b: Annotated[str | None, typer.Argument(help="As the first.")] = None,
    hands: Annotated[
        int, typer.Option("-n", "--hands", help="Hands to play; a duplicate deal is two.")
    ] = 100_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same cards.")] = 0,
    duplicate: Annotated[
        bool | None,
        typer.Option(
            "--duplicate/--no-duplicate",
            help="Play every deal twice, seats swapped (default: yes).",
        ),
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="The game (default: that of the strategies, or hold'em).")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Write the hands there: .parquet, .phhs, or .log (ACPC).")
    ] = None,
    observer: Annotated[
        str | None, typer.Option(help="Log what a or b could see (default: all cards).")
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Let A learn while playing, from nothing: give B only.")
    ] = False,
    iterations: Annotated[
        int | None,
        typer.Option(
            help=f"With --learn: iterations of the response per 1,000 hands (default: "
            f"{THINKING:,})."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play two strategies or bots against each other and say who wins, and how sure that is.

    For example: counterplay match always-call always-raise
    Ctrl-C gives the result of the hands played so far, and logs these.
    """
    _check_options(a, b, hands, learn, duplicate, iterations)
    try:
        if learn:
            thinking = THINKING if iterations is None else iterations
            stopped = _learn(
                a, game or "holdem(buckets=10)", hands, seed, thinking, log, observer, as_json
            )
        else:
            assert b is not None
            stopped = _match(
                a, b, hands, seed, duplicate is not False, game, log, observer, as_json
            )
    except KeyboardInterrupt:
        err.print("stopped before a hand was played; there is no result")
        stopped = True
    if stopped:
        raise typer.Exit(130)


def _check_options(
    a: str, b: str | None, hands: int, learn: bool, duplicate: bool | None, iterations: int | None
) -> None:
    """Refuse what would do nothing."""
    if not learn:
        if b is None:
            raise BadParameter(f"{a} against whom? For example: counterplay match {a} always-call")
        if iterations is not None:
            raise BadParameter(
                "--iterations are those of a learner; add --learn, or leave them out"
            )
        return
    if b is not None:
        raise BadParameter(
            "with --learn the learner plays against one opponent: counterplay match poki --learn"
        )
    if duplicate is not None:
        name = "--duplicate" if duplicate else "--no-duplicate"
        raise BadParameter(
            f"a learner remembers, so --learn plays every deal once; leave out {name}"
        )
    if 2 <= hands <= LEARN_EVERY:
        raise BadParameter(
            f"--learn learns after every {LEARN_EVERY:,} hands; play more than that, not {hands:,}"
        )


def _match(
    a: str,
    b: str,
    hands: int,
    seed: int,
    duplicate: bool,
    game: str | None,
    log: Path | None,
    observer: str | None,
    as_json: bool,
) -> bool:
    """Play and print; whether it was stopped."""
    from counterplay.arena.match import play_match

    with share_progress("match") as tell:
        loaded, one, two = _players(a, b, game)
        options: dict[str, Any] = {
            "duplicate": duplicate,
            "log": log,
            "observer": observer,
            "tell": tell,
        }
        try:
            result = play_match(loaded, one, two, hands, seed, **options)
        except Interrupted as stop:
            if stop.result is None:
                raise KeyboardInterrupt from None
            result = cast("MatchResult", stop.result)
    if as_json:
        found = asdict(result) | {"a": a, "b": b, "interval": result.interval}
        found["unit"] = str(loaded.unit)
        print(json.dumps({name: finite(value) for name, value in found.items()}))
    else:
        _print_result(result, a, b, loaded, log)
    return result.stopped


def _print_result(result: MatchResult, a: str, b: str, game: Game, log: Path | None) -> None:
    low, high = result.interval
    sure = (
        f"95% interval {low:+.4f} to {high:+.4f}"
        if math.isfinite(low)
        else "one deal says nothing of how sure that is"
    )
    out.print(f"{a} against {b}: {result.mean:+.4f} {game.unit}, {sure}")
    seats = game.seats
    facts = {
        "hands": result.hands,
        "duplicate": "yes, each deal in both seats" if result.duplicate else "no",
        "seats": "both"
        if result.seat is None
        else f"{a} in player {result.seat + 1}'s seat only, as {seats[result.seat]}",
        "standard error": result.standard_error
        if math.isfinite(result.standard_error)
        else "not known",
        **{f"{a} as {seats[k]}": result.by_seat[k] for k in (0, 1) if result.seat in (None, k)},
        "seed": result.seed,
        "hands per second": round(result.hands / max(result.seconds, 1e-9)),
    }
    facts |= {"hands written to": str(log)} if log is not None else {}
    facts |= {"stopped": "yes, before all hands were played"} if result.stopped else {}
    print_facts(facts, False)


def finite(value: Any) -> Any:
    """For JSON, which knows no infinity: None instead."""
    if isinstance(value, tuple | list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _learn(
    opponent: str,
    game: str,
    hands: int,
    seed: int,
    iterations: int,
    log: Path | None,
    observer: str | None,
    as_json: bool,
) -> bool:
    """Play online and print a line per block; whether it was stopped."""
    from counterplay.arena.online import play_online
    from counterplay.base.processors import cores
    from counterplay.games.registry import load

    loaded = load(game)
    unit = str(loaded.unit)
    rows: list[dict[str, Any]] = []
    options: dict[str, Any] = {
        "iterations": iterations,
        "threads": cores(),
        "every": LEARN_EVERY,
        "log": log,
        "observer": observer,
    }
    stopped = False
    try:
        with share_progress("learning while playing") as tell:
            for block in play_online(opponent, hands, seed, game=loaded, tell=tell, **options):
                half = block.interval[1] - block.mean
                rows.append(
                    {
                        "hands": block.hands,
                        "last block": block.won,
                        "mean": block.mean,
                        "half interval": finite(half),
                    }
                )
                if not as_json:
                    mean = f"{block.mean:+.4f} ± {half:.4f} {unit}"
                    won = f"last block {block.won:+.3f}   so far {mean}"
                    out.print(f"{block.hands:>9,} hands   {won}")
    except KeyboardInterrupt:
        if not rows:
            raise
        stopped = True
    if as_json:
        print(json.dumps({"opponent": opponent, "unit": unit, "blocks": rows, "stopped": stopped}))
        return stopped
    if log is not None:
        out.print(f"hands written to {log}")
    if stopped:
        out.print("stopped before all hands were played")
    return stopped


def _players(a: str, b: str, game: str | None) -> tuple[Any, Any, Any]:
    """The game and the two players: strategies, or in hold'em bots that carry the name they were
    called by."""
    from counterplay.games.registry import load
    from counterplay.opponents.bots.registry import BOTS, as_bot
    from counterplay.opponents.bots.table import strategy_bot

    loaded = load(game) if game is not None else None
    if loaded is not None and not loaded.abilities.bots:
        return loaded, read_strategy(a, game), read_strategy(b, game)
    players: list[Any] = []
    for name in (a, b):
        if name in BOTS or not name or not os.path.exists(name):
            players.append(as_bot(name))
            continue
        strategy = read_strategy(name, game)
        if not strategy.game.abilities.bots:
            return (
                strategy.game,
                read_strategy(a, strategy.game.name),
                read_strategy(b, strategy.game.name),
            )
        loaded = loaded or strategy.game
        players.append(strategy_bot(strategy, Path(name).name))
    return loaded or load("holdem(buckets=10)"), players[0], players[1]


def model(
    hands: Annotated[
        Path,
        typer.Argument(
            help="Hands: .parquet, .log or .txt of ACPC, .phh, .phhs, or a folder of the last two."
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
    from counterplay.games.registry import load
    from counterplay.opponents.hands.parquet import read_any
    from counterplay.opponents.models.file import save_model
    from counterplay.opponents.models.model import assess, learn_model, split
    from counterplay.opponents.models.observe import observe

    target = _model_file(hands, target, player, kind)
    if kind == "frequency" and not laplace:
        raise BadParameter("--no-laplace is for the leaves of trees; a frequency model has none")
    read = read_any(
        hands,
        on_error,
        lambda message: err.print(f"skipped: {message}") if on_error == "skip" else None,
    )
    if not len(read):
        raise BadParameter(
            f"{hands}: no hand to learn "
            f"from{f', {len(read.skipped):,} skipped' if read.skipped else ''}"
        )
    loaded = load(game)
    seen = observe(read, player)
    known, held_out = split(seen)
    if not len(held_out.node) or not len(known.node):
        raise BadParameter(
            f"{player!r} decides in {len(set(seen.hand.tolist()))} of these hands, "
            "too few to learn from some and hold every fifth out; give more"
        )
    quality = assess(
        learn_model(known, loaded, player, kind, laplace=laplace, unseen=unseen), known, held_out
    )
    learnt = learn_model(seen, loaded, player, kind, laplace=laplace, unseen=unseen)
    save_model(learnt, target)
    if text and not as_json:
        out.print(learnt.text())
    print_facts(
        {
            "player": player,
            "hands": learnt.hands,
            "skipped": len(read.skipped),
            "decisions": learnt.decisions,
            "his cards were seen in": f"{100 * float((seen.cards[:, 0] >= 0).mean()):.0f}% of them",
            "held out": f"{quality.decisions:,} decisions, every fifth hand",
            "log loss": quality.log_loss,
            "log loss of plain frequencies": quality.baseline,
            "likeliest action taken": f"{100 * quality.accuracy:.0f}%",
            "verdict": f"predicts {'better' if quality.gain > 0 else 'NO better'} than plain "
            f"frequencies",
            "saved in": str(target),
        }
        | ({"text": learnt.text()} if text and as_json else {}),
        as_json,
    )


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


def show(
    context: typer.Context,
    strategy: Annotated[str, typer.Argument(help="A strategy file or a run folder.")],
    betting: Annotated[
        str, typer.Option(help="Hold'em: after these actions before the flop, such as r or cr.")
    ] = "",
    picture: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Hold'em: where the picture goes (default: beside the strategy)."
        ),
    ] = None,
    game: Annotated[str | None, typer.Option(help="The game, where the file does not say.")] = None,
) -> None:
    """Show what a strategy does: its table, or in hold'em the grid of starting hands as a
    picture."""
    profile = read_strategy(strategy, game)
    if profile.player is not None:
        out.print(
            f"Meant for {seat_text(profile.game, profile.player)}; "
            "the other is the model it responds to."
        )
    if not profile.game.abilities.grid:
        refuse_given(
            context,
            ["betting", "picture"],
            f"the strategy is for {profile.game.name}, which has no picture",
        )
        for row in profile.table():
            out.print(str(row))
        return
    from counterplay.holdem.grid import grid_label, plot_grid, preflop_grid

    path = Path(strategy)
    name = path.name if path.is_dir() else path.stem
    picture = (
        picture
        or (path if path.is_dir() else path.parent)
        / f"{name}-preflop{'-' + betting if betting else ''}.png"
    )
    plot_grid(profile, picture, betting, name)
    grid = preflop_grid(profile, betting)
    for row in range(13):
        cells = [
            f"{grid_label(row, column):>3} {_letter(grid[row, column])}" for column in range(13)
        ]
        out.print("  ".join(cells))
    out.print("r raise, c call, f fold: what is played most; capitals above 90%")
    out.print(f"Picture: {picture}")


def _letter(shares: Any) -> str:
    best = int(shares.argmax())
    letter = "fcr"[best]
    return letter.upper() if shares[best] > 0.9 else letter


@holdem.callback()
def _holdem() -> None:
    """Tables of hand strength for hold'em."""


@holdem.command()
def prepare(as_json: AsJson = False) -> None:
    """Build the exact hand-strength tables now (they are otherwise built on first use)."""
    from counterplay.holdem import tables

    before = time.perf_counter()
    folder = tables.table_folder()
    ready = tables.read_tables(folder) is not None
    with share_progress("hold'em tables") as tell:
        tables.strengths(tell)
    size = tables.size_on_disk(folder)
    facts = {
        "tables": "were ready" if ready else "built",
        "seconds": time.perf_counter() - before,
        "megabytes on disk": size / 1e6 if size else "none: the cache folder cannot be written",
        "folder": str(folder),
    }
    print_facts(facts, as_json)
