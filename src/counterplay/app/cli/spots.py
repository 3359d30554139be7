"""The command `spot`, and what `show` prints about a strategy of a spot."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli import display
from counterplay.app.cli import options as opt
from counterplay.app.cli.display import err, out, print_json
from counterplay.core.base.errors import BadParameter, positive, shown, whole_number

DEFAULT_PERCENT = 0.5  # of the pot, at which a run stops
DEFAULT_SECONDS = 60.0
DEFAULT_RANGE = "random"


def spot(
    context: typer.Context,
    board: Annotated[
        str | None, Argument(help="The board, three to five cards: 'Qs Jh 2c 5d'.")
    ] = None,
    pot: Annotated[float | None, Option(help="Chips in the pot.")] = None,
    stacks: Annotated[
        str | None,
        Option(help="Chips that each player still has, as 90; of two, as 90,50, the smaller."),
    ] = None,
    first: Annotated[
        str, Option("-1", "--first", help="Range of the player who acts first: 22+,A2s+,KTo+:0.5.")
    ] = DEFAULT_RANGE,
    second: Annotated[
        str, Option("-2", "--second", help="Range of the player in position.")
    ] = DEFAULT_RANGE,
    bets: Annotated[
        str | None,
        Option(
            help="Percent of the pot, as 50,100,allin; by street 'flop: 33; turn: 50'; by player "
            "'50 | 33'. With --limit chips. Default: 50,100."
        ),
    ] = None,
    raises: Annotated[
        str | None, Option(help="The same for raises, of the pot after the call. Default: as bets.")
    ] = None,
    cap: Annotated[
        str, Option(help="Bets and raises of a street at most; none for any number.")
    ] = "4",
    min_bet: Annotated[float, Option(help="The smallest bet in chips.")] = 0.0,
    limit: Annotated[bool, Option("--limit", help="Limit betting: --bets are chips.")] = False,
    rake: Annotated[float, Option(help="Share of the pot that the house takes, as 0.05.")] = 0.0,
    rake_cap: Annotated[float | None, Option(help="Chips of rake at most.")] = None,
    apart: Annotated[
        bool,
        Option(
            "--suits-apart",
            help="Tell suits apart that board and ranges do not, for locks of single hands.",
        ),
    ] = False,
    algorithm: Annotated[
        str,
        Option("-a", "--algorithm", help="Of the CFR family, in vector form: dcfr, cfr+, ..."),
    ] = "dcfr",
    target: Annotated[
        float | None,
        Option("-t", "--target", help="Stop at this exploitability (b1 + b2), percent of the pot."),
    ] = None,
    iterations: opt.Iterations = None,
    seconds: opt.Seconds = None,
    option: opt.SolverOptions = None,
    at: Annotated[
        str, Option("--at", help="Print the decision after these actions, such as 'check-bet 10'.")
    ] = "start",
    lock: Annotated[
        list[str] | None,
        Option(help="Respond to a player who does this: 'bet 10 fold 0.7', or a file NAME.toml."),
    ] = None,
    player: Annotated[
        int | None,
        Option(
            "--player", min=1, max=2, help="With --lock: who responds, if a file has locks of both."
        ),
    ] = None,
    trust: Annotated[
        float | None,
        Option(help="With --lock: how likely the locks are followed, from 0 to 1 (the default)."),
    ] = None,
    max_risk: Annotated[
        float | None,
        Option(
            help="With --lock: choose the largest trust that loses at most this percent of the pot."
        ),
    ] = None,
    frontier: Annotated[
        bool, Option("--frontier", help="With --lock: payoff and risk at several trusts.")
    ] = False,
    source: Annotated[
        str | None,
        Option("--from", help="A strategy of limit hold'em, whose position is solved again."),
    ] = None,
    betting: Annotated[
        str | None, Option(help="With --from: the betting before this street, such as rc/cc/.")
    ] = None,
    only: Annotated[
        list[str] | None,
        Option(help="With --from: unsafe, safe or max-margin; may be repeated. Default: all."),
    ] = None,
    folder: opt.NewRun = None,
    resume: opt.Resume = None,
    as_json: opt.AsJson = False,
) -> None:
    """Solve a position of hold'em after the flop. Any board, ranges, stacks and bet sizes.

    For example: counterplay spot "Qs Jh 2c 5d 8s" --pot 20 --stacks 90 -1 "22+,A2s+" --bets 50,100

    Without -n, -s or -t it stops at 0.5% of the pot, or after a minute. Ctrl-C saves the run before
    it stops.
    """
    from counterplay.core.solvers import run as runs
    from counterplay.core.solvers.algorithms import options_of
    from counterplay.poker.spots.engine import on_all_processors
    from counterplay.poker.spots.view import find_node

    if target is not None and not 0 < target < math.inf:
        raise BadParameter(f"--target is percent of the pot, above 0, not {target:g}")
    if iterations is not None:
        whole_number(iterations, 1, None, "iterations")
    if seconds is not None:
        positive(seconds, "seconds")
    if resume is not None:
        opt.refuse_but_limits(context, None, ["at"])
        from counterplay.core.forms.registry import recorded_game
        from counterplay.core.solvers.folder import read_config

        game, folder = recorded_game(read_config(resume)["game"], resume), resume
        if not game.can("spots"):
            raise BadParameter(f"{resume} is a run of {game.name}; continue it with solve --resume")
        work = partial(runs.resume, resume, game=game)
    elif source is not None or betting is not None:
        from counterplay.app.cli.positions import again

        allowed = ["board", "source", "betting", "only", "target", "iterations", "folder"]
        why = "--from takes pot, ranges and bets from the strategy"
        opt.refuse_others(context, [*allowed, "as_json"], why)
        again(board, source, betting, only, target, iterations, folder, as_json)
        return
    else:
        if board is None or pot is None:
            raise BadParameter(
                'which position? For example: counterplay spot "Qs Jh 2c 5d 8s" --pot 20 --stacks '
                '90 -1 "22+,A2s+" -2 random --bets 50,100'
            )
        with display.status("building the spot"):
            game = _game(
                board, pot, _stacks(stacks), (first, second), bets, limit, raises=raises,
                cap=_cap(cap), min_bet=min_bet, rake=rake, rake_cap=rake_cap, symmetric=not apart,
            )  # fmt: skip
        if lock:
            opt.refuse_given(
                context, ["algorithm", "iterations", "seconds"],
                "with --lock each game is solved by dcfr to --target",
            )  # fmt: skip
            who = None if player is None else player - 1
            _locked(game, lock, who, trust, max_risk, frontier, target, option, at, folder, as_json)
            return
        opt.refuse_given(
            context, ["player", "trust", "max_risk", "frontier"], "they go with --lock"
        )
        opt.refuse_given(context, ["only"], "it goes with --from")
        folder = folder or display.new_folder(game.name, algorithm, 0)
        display.check_new_run(folder)
        if "threads" not in options_of(algorithm):
            raise BadParameter(
                f"{algorithm} does not solve spots in vector form; take dcfr or cfr+"
            )
        options = on_all_processors(opt.read_options(option))
        find_node(game.rules, at)
        _say_size(game, options)
        work = partial(runs.solve, game, algorithm, folder=folder, **options)
    find_node(game.rules, at)
    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": None}
    unlimited = iterations is None and seconds is None
    if target is not None or unlimited:
        limits["target"] = (target or DEFAULT_PERCENT) / 100 * game.rules.pot
    if target is None and unlimited:
        limits["seconds"] = DEFAULT_SECONDS
    report = partial(_report, folder=folder, at=at, as_json=as_json)
    hint = display.resume_hint("spot", folder)
    resumed = resume is not None and not as_json
    display.run_in_folder(work, folder, hint, report, limits, resumed=resumed)


def _stacks(text: str | None) -> Any:
    """One stack, or one for each player."""
    if text is None:
        return None
    try:
        found = tuple(float(word) for word in text.split(","))
    except ValueError:
        raise BadParameter(f"--stacks: chips, as 90 or 90,50, not {shown(text)}") from None
    return found[0] if len(found) == 1 else found


def _cap(text: str) -> int | None:
    """The largest number of bets and raises; None for `none`."""
    if text.strip().lower() == "none":
        return None
    try:
        return int(text)
    except ValueError:
        raise BadParameter(f"--cap: a whole number, or none, not {shown(text)}") from None


def _locked(
    game: Any, locks: list[str], player: int | None, trust: float | None, max_risk: float | None,
    frontier: bool, target: float | None, option: list[str] | None, at: str, folder: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Responds to locks, and prints payoffs and risks."""
    from counterplay.core.solvers.algorithms import options_of
    from counterplay.poker.spots.responses import lock_frontier, respond_to_locks
    from counterplay.poker.spots.view import find_node

    pot, options = game.rules.pot, opt.read_options(option)
    find_node(game.rules, at)
    known = options_of("dcfr")
    for name in options:
        if name not in known:
            raise BadParameter(f"-o {name}: with --lock options are {', '.join(known)}")
    if max_risk is not None and not 0 <= max_risk < math.inf:
        raise BadParameter(f"--max-risk is percent of the pot, at least 0, not {max_risk:g}")
    if target is not None:
        options["percent"] = target
    if frontier and (trust is not None or max_risk is not None):
        raise BadParameter("--frontier has several trusts; leave out --trust and --max-risk")
    if frontier and folder is not None:
        raise BadParameter("--frontier saves no strategy; leave out --out")
    if folder is not None:
        display.check_new_run(folder)
    with display.share_progress("responding") as progress:
        tell: Any = {"progress": lambda text: progress(0.0, text), "player": player}
        if frontier:
            found = lock_frontier(game, locks, **tell, **options)
        else:
            chips = None if max_risk is None else max_risk / 100 * pot
            found = [respond_to_locks(game, locks, trust=trust, max_risk=chips, **tell, **options)]
    if folder is not None:
        found[0].strategy.save(folder / "strategy.npz")
    if as_json:
        names = ("trust", "payoff", "worst_case", "value", "gain", "risk", "exploitability")
        rows = [{name: getattr(one, name) for name in names} for one in found]
        print_json({"game": game.name, "player": found[0].player + 1, "responses": rows})
        return
    responder = game.seat(found[0].player)
    out.print(f"{responder} responds; chips per hand, and percent of the pot:")
    out.print(f"{'trust':>6}  {'payoff':>9}  {'gain':>17}  {'risk':>17}")
    for one in found:
        pair = "  ".join(f"{x:9.4f} {100 * x / pot:6.2f}%" for x in (one.gain, one.risk))
        out.print(f"{one.trust:6.3f}  {one.payoff:9.4f}  {pair}")
    if not frontier:
        print_view(found[0].strategy, at, "")
    if folder is not None:
        out.print(f"saved in {folder}")


def _game(*given: Any, **options: Any) -> Any:
    from counterplay.poker.spots.game import spot as make

    return make(*given, **options)


def _say_size(game: Any, options: dict[str, Any]) -> None:
    layout = game.rules.layout
    size = layout.bytes_needed(str(options.get("precision", "double")))
    boards = int(layout.boards.first[-1])
    err.print(
        f"{len(layout.tree.kind):,} betting histories, {boards:,} board{'s'[: boards > 1]}, "
        f"{layout.n_infosets:,} information sets; about {max(size / 1e6, 1):,.0f} MB of memory"
    )


def _report(result: Any, folder: Path, at: str, as_json: bool) -> None:
    from counterplay.core.evaluation.exact import expected_value

    game, rate = result.game, result.iterations / max(result.seconds, 1e-9)
    values = expected_value(game, result.strategy).tolist()
    percent = 100 * result.exploitability / game.rules.pot
    if as_json:
        print_json({
            "game": game.name, "algorithm": result.algorithm, "options": result.parameters,
            "iterations": result.iterations, "seconds": result.seconds,
            "iterations_per_second": rate, "exploitability": result.exploitability,
            "exploitability_percent_of_pot": percent, "values": values,
            "stopped_by": result.stopped_by, "folder": str(folder),
            "decision": _facts(result.strategy, at, ""),
        })  # fmt: skip
        return
    out.print(
        f"{result.algorithm}: {result.iterations:,} iterations in {result.seconds:.2f} s "
        f"({rate:,.0f} per second)"
    )
    name = display.exploitability_name(game)
    out.print(f"{name} = {result.exploitability:.3g} chips, {percent:.3g}% of the pot")
    half = game.rules.pot / 2
    for player, value in enumerate(values):
        out.print(f"value to {game.seat(player)} = {value:+.4f}, {half + value:.4f} of the pot")
    print_view(result.strategy, at, "")
    out.print(f"saved in {folder}; look at it: counterplay show {folder} --betting 'HISTORY'")


def _facts(strategy: Any, betting: str, board: str) -> dict[str, Any]:
    from counterplay.poker.spots.view import spot_view

    view = spot_view(strategy, betting, board)
    rows = [
        {"class": name, "share": share, **dict(zip(view.actions, mean.tolist(), strict=True))}
        for name, (share, mean) in view.classes().items()
    ]
    return {
        "history": view.history, "board": view.board, "player": view.player + 1,
        "frequency": view.frequency, "classes": rows,
    }  # fmt: skip


def show_decision(
    strategy: Any, betting: str, board: str, cards: str | None, csv: Path | None, as_json: bool
) -> None:
    """`show` for a strategy of a spot."""
    from counterplay.core.base.files import csv_text, write_text
    from counterplay.poker.spots.view import spot_view

    view = spot_view(strategy, betting, board)
    if csv is not None:
        columns = view.columns()
        rows = zip(*columns.values(), strict=True)
        write_text(csv, csv_text([tuple(columns), *rows]))
    if cards is not None:
        shares = view.at(cards)
        if as_json:
            print_json({"history": view.history, "cards": cards, "probabilities": shares})
            return
        to_act = {"to act": strategy.game.seat(view.player), "after": view.history}
        display.print_facts(to_act | shares, False)
    elif as_json:
        print_json(_facts(strategy, betting, board))
    else:
        print_view(strategy, betting, board)


def print_view(strategy: Any, betting: str, board: str) -> None:
    """Prints the frequencies of a decision, and its probabilities by class of holdings."""
    from counterplay.poker.spots.view import spot_view

    view = spot_view(strategy, betting, board)
    seat = strategy.game.seat(view.player)
    out.print(f"after {view.history} on {view.board}, {seat} acts:")
    width = max(7, *(len(action) for action in view.actions))
    out.print("".join([f"{'':6}{'range':>8}", *(f"  {a:>{width}}" for a in view.actions)]))
    rows = {"all": (1.0, view.frequency.values())} | view.classes()
    for name, (share, mean) in rows.items():
        out.print("".join([f"{name:<6}{share:8.1%}", *(f"  {s:{width}.1%}" for s in mean)]))
