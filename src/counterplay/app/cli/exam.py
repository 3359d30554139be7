"""The command `exam`: a player of one's own against the shipped players, or in a small game
decision by decision."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli import display
from counterplay.app.cli import options as opt
from counterplay.app.cli.display import err, out, print_facts, print_json
from counterplay.core.base.errors import BadParameter

MATCH_OPTIONS = ("against", "hands", "margin", "seed", "copies", "flops")
SHOWN = 8  # decisions that are printed


def exam(
    context: typer.Context,
    player: Annotated[
        str,
        Argument(
            help=f"The player: {opt.PLAYER}; acpc:COMMAND, a program of the competition; in small "
            f"games also text:COMMAND or text:file.py:function."
        ),
    ],
    game: Annotated[
        str | None,
        Option(help="A small game such as kuhn or leduc: an exact exam (default: limit hold'em)."),
    ] = None,
    against: Annotated[
        str | None,
        Option(
            help="Opponents, separated by commas (default: the shipped strategies and all "
            "bots that are tables)."
        ),
    ] = None,
    hands: Annotated[
        int,
        Option("-n", "--hands", help="Most hands against each opponent.", parser=opt.integer),
    ] = 3_000,
    margin: Annotated[
        float, Option(help="Stop also when the interval is this close to 0, in sb/h.")
    ] = 0.05,
    seed: opt.Seed = 0,
    copies: Annotated[
        int,
        Option(
            help="Copies of a player in Python that are asked too, such as 40, to take the luck of "
            "its own mixing out; for players that do not say their probabilities."
        ),
    ] = 0,
    flops: Annotated[
        int | None,
        Option(
            help="Also estimate the exploitability of a strategy or a function from so many flops."
        ),
    ] = None,
    times: Annotated[
        int | None, Option(help="Small games: answers of a text player to each state (default: 1).")
    ] = None,
    folder: Annotated[
        Path | None,
        Option("--out", help="Folder for exam.html and exam.json (default: exams/...)."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Examine a player: what it wins, whether that is sure, what its decisions cost.

    For example: counterplay exam my_bots.py:MyBot

    and exactly, with states as text: counterplay exam text:./my_model.sh --game kuhn

    Ctrl-C prints and saves the matches played so far.
    """
    name = re.sub(r"[^\w.=-]+", "-", player).strip("-.")[-60:] or "player"
    where = folder or Path("exams") / (name if game is None else f"{name}-{game}")
    display.check_can_write(where, "exam.html", "exam.json")
    from counterplay.poker.exam.report import save

    if game is not None:
        opt.refuse_given(context, MATCH_OPTIONS, "a small game is examined exactly")
        result, stopped, failure = _grade(game, player, times), False, None
    else:
        if times is not None:
            raise BadParameter("--times is for text players in a small game; add --game kuhn")
        _check_holdem(player)
        opponents = None if against is None else [one.strip() for one in against.split(",")]
        result, stopped, failure = _matches(
            player, opponents, hands, seed, margin=margin, copies=copies, flops=flops
        )
    paths = save(result, where)
    if as_json:
        print_json(result.facts())
    else:
        (_print_exam if game is None else _print_grade)(result)
        out.print(f"Files: {paths[0]}, {paths[1]}")
    if failure is not None:
        raise failure
    if stopped:
        raise typer.Exit(130)


def _check_holdem(player: str) -> None:
    """Refuses the strategy of another game, and says how to examine it."""
    from counterplay.poker.players import game_of, kind_of

    own = game_of(player) if kind_of(player) == "path" else None
    if own is not None and not own.can("bots"):
        words = display.suggested("exam", player, "--game", own.name)
        raise BadParameter(f"{player} is a strategy for {own.name}; examine it there: {words}")
    if player.startswith("text:"):
        raise BadParameter("text players play small games; add --game kuhn")


def _matches(
    player: str,
    opponents: list[str] | None,
    hands: int,
    seed: int,
    **options: Any,
) -> tuple[Any, bool, Exception | None]:
    """The exam, whether it was stopped by Ctrl-C, and the error that ended it."""
    from counterplay.poker.exam.holdem import exam as examine
    from counterplay.poker.exam.result import ExamFailed

    with display.share_progress("exam") as progress:
        work = partial(examine, player, opponents, hands, seed, progress=progress, **options)
        try:
            result, stopped = display.until_stopped(work)
        except ExamFailed as failure:
            return failure.result, False, failure
        except KeyboardInterrupt:
            err.print("stopped before the first match was over; nothing was saved.")
            raise typer.Exit(130) from None
    if stopped:
        err.print("stopped; these are the matches that were played.")
    return result, stopped, None


def _grade(game: str, player: str, times: int | None) -> Any:
    from counterplay.poker.exam.exact import grade

    with display.share_progress("exam") as progress:
        return grade(game, player, 1 if times is None else times, progress=progress)


def _print_exam(exam: Any) -> None:
    for row in exam.rows:
        out.print(str(row))
    value = "not known" if exam.exploitability is None else f"{exam.exploitability:.4f} sb/h"
    facts = {
        "exploitability (b1 + b2)": f"{value}, {exam.exploitability_note}",
        "time of an action": f"{exam.mean_ms:.3g} ms, 99% within {exam.slow_ms:.3g} ms",
        "illegal actions": f"{exam.illegal:,} of {exam.actions:,}",
        "its own mixing": exam.mixing,
        "seconds": round(exam.seconds, 1),
    }
    print_facts(facts, False)


def _print_grade(grade: Any) -> None:
    facts = {
        "game": grade.game,
        "unit": "per game",
        "lost to the equilibrium, both seats": grade.loss_equilibrium,
        "lost to a best response, both seats": grade.loss_best_response,
        "exploitability (b1 + b2)": grade.exploitability,
    }
    if grade.asked:
        facts["illegal answers"] = f"{grade.illegal:,} of {grade.asked:,}"
        facts["time of an answer"] = f"{grade.mean_ms:.3g} ms"
    print_facts(facts, False)
    costly = [one for one in grade.worst() if one.loss_equilibrium > 0.0][:SHOWN]
    if costly:
        out.print("The costliest decisions against the equilibrium:")
    for one in costly:
        plays = ", ".join(f"{action} {share:.2f}" for action, share in one.answer.items() if share)
        out.print(
            f"  player {one.player + 1} at {one.infoset}: {plays}; best {one.best}, "
            f"loses {one.loss_equilibrium:.5f}"
        )
