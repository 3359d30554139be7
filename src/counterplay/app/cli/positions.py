"""`spot --from`: a position of a strategy of limit hold'em, solved again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.app.cli import display
from counterplay.app.cli.display import out, print_json
from counterplay.core.base.errors import BadParameter, one_of

if TYPE_CHECKING:
    from counterplay.poker.spots.positions import Resolved

ACTIONS = ("fold", "call", "raise")


def again(
    board: str | None, source: str | None, betting: str | None, only: list[str] | None,
    target: float | None, iterations: int | None, folder: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Solves a position of a strategy again, and prints exploitabilities and leaks."""
    from counterplay.poker.players import find_strategy
    from counterplay.poker.spots.positions import KINDS, hold_position, resolve

    for kind in only or ():
        one_of(kind, KINDS, "--only")
    if board is None or source is None or betting is None:
        raise BadParameter(
            'which position? For example: counterplay spot "Qs Jh 2c 5d 8s" --from safe --betting '
            "rc/rc/rc/"
        )
    if folder is not None:
        display.check_new_run(folder)
    with display.status(f"finding {betting} of {source}"):
        position = hold_position(find_strategy(source), betting, board)
    with display.share_progress("resolving") as progress:
        found = resolve(
            position, iterations=iterations, percent=target, kinds=only or KINDS, progress=progress
        )
    pot = position.game.rules.pot
    saved = "" if folder is None else _saved(found, folder)
    if as_json:
        print_json({
            "betting": betting, "board": board, "pot": pot, "leak": found.leak,
            "exploitability": found.exploitability,
        })  # fmt: skip
        return
    out.print(f"{source} after {betting} on {board}, a pot of {pot:g} small bets")
    out.print(f"{'':10}  {'exploitability (b1 + b2)':>26}  {'leak of player 1':>18}  {'of 2':>10}")
    for name, value in found.exploitability.items():
        leaks = found.leak[name]
        shown = f"{value:.4f} sb, {100 * value / pot:.2f}% of the pot"
        out.print(f"{name:10}  {shown:>26}  {leaks[0]:15.5f} sb  {leaks[1]:7.5f} sb")
    if saved:
        out.print(saved)


def _saved(found: Resolved, folder: Path) -> str:
    """Saves the strategies, on the flop as tables of what they do there; says so."""
    from counterplay.core.base.files import csv_text, write_text
    from counterplay.core.forms.strategy import Strategy

    names = []
    for name, strategy in found.strategies.items():
        if isinstance(strategy, Strategy):
            names.append(f"{'strategy' if name == 'safe' else name}.npz")
            strategy.save(folder / names[-1])
        else:
            names.append(f"{name}.csv")
            write_text(folder / names[-1], csv_text(_street_rows(strategy)))
    return f"saved in {folder}: {', '.join(names)}"


def _street_rows(strategy: Any) -> list[tuple[Any, ...]]:
    """A row for each holding at each decision of the first street."""
    from counterplay.poker.spots.view import spot_view

    rows: list[tuple[Any, ...]] = [("history", "player", "holding", "reach", *ACTIONS)]
    for history in strategy.game.rules.nodes():
        if "/" in history:
            continue
        view = spot_view(strategy, history)
        words = [action.split()[0] for action in view.actions]
        kinds = [{"check": "call", "bet": "raise"}.get(word, word) for word in words]
        for holding, reach, shares in zip(view.holdings, view.reach, view.policy, strict=True):
            played = dict(zip(kinds, shares.tolist(), strict=True))
            columns = [played.get(action, 0.0) for action in ACTIONS]
            rows.append((history, view.player + 1, holding, float(reach), *columns))
    return rows
