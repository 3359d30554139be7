"""Tables of the pages on hold'em, each from a committed CSV of benchmarks/."""

from __future__ import annotations

import number_tables
from number_tables import Row, table

REAL_GAME = "holdem(buckets=100,kind=emd)"


def _rows(name: str) -> list[Row]:
    return number_tables.rows(f"../benchmarks/{name}.csv")


def exact_table() -> str:
    """Exploitability from all flops."""
    lines = [
        [row["strategy"], f"{float(row['mb_per_game']):.2f}", f"{float(row['seconds']):.0f}"]
        for row in _rows("exact")
    ]
    return table(["player", "mb/g", "seconds"], lines)


def precision_table() -> str:
    """What single precision on the device is off by: the worst of the flops tried."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in _rows("exact_check"):
        groups.setdefault((row["what"], row["player"]), []).append(row)
    lines = [
        [
            *key,
            str(len(group)),
            f"{max(float(row['off_mb_per_game']) for row in group):.4f}",
            f"{max(float(row['relative']) for row in group):.0e}",
        ]
        for key, group in groups.items()
    ]
    return table(["what", "player", "flops", "off by at most, mb/g", "relative"], lines)


def _over(backend: str, first: str) -> str:
    """mb/g by player and seconds of training."""
    groups: dict[str, dict[int, str]] = {}
    for row in _rows("exploitability"):
        if row["backend"] == backend and row["seconds"] != "0":
            cell = f"{float(row['mb_per_game']):.0f} ± {float(row['error']):.0f}"
            groups.setdefault(row["player"], {})[int(row["seconds"])] = cell
    points = sorted({n for group in groups.values() for n in group})
    names = sorted(groups, key=lambda name: (int(name.rsplit("-", 1)[1]), name))
    lines = [[name, *(groups[name].get(n, "") for n in points)] for name in names]
    return table([first, *(f"{n} s" for n in points)], lines)


def training_table() -> str:
    return _over("cpu", "player, on one processor")


def device_table() -> str:
    return _over("cuda", "player, on an H200")


def untrained_table() -> str:
    lines = [
        [row["player"], f"{float(row['mb_per_game']):.0f} ± {float(row['error']):.0f}"]
        for row in _rows("exploitability")
        if row["seconds"] == "0"
    ]
    return table(["player", "mb/g"], lines)


def by_board_table() -> str:
    """Winnings by boards and by hands."""
    lines = [
        [
            row["by"],
            f"{int(row['number']):,}",
            f"{float(row['sb_per_hand']):+.4f}",
            f"{float(row['standard_error']):.4f}",
            f"{float(row['seconds_of_a_processor']):.1f}",
        ]
        for row in _rows("by_board")
    ]
    return table(["by", "number", "sb/h", "standard error", "seconds"], lines)


def risk_table() -> str:
    """What responses win from a model and what they risk, by p."""
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in _rows("holdem_frontier"):
        key = row["opponent"], f"{float(row['p']):g}"
        groups.setdefault(key, {})[row["buckets"]] = [
            f"{float(row['won_sb']):+.3f}",
            f"{float(row['risk_mb_per_game']):,.0f} ± {float(row['risk_error']):.0f}",
        ]
    lines = [
        [*key, *group.get("10", ["", ""]), *group.get("100", ["", ""])]
        for key, group in groups.items()
    ]
    header = ["MCRNR10 wins", "and risks", "MCRNR100 wins", "and risks"]
    return table(["model of", "p", *header], lines)


def _risk(row: Row) -> str:
    risk = f"{float(row['risk_mb_per_game']):,.0f}"
    return f"{risk}, exact" if row["flops"] == "all" else f"{risk} ± {float(row['risk_error']):.0f}"


def real_adversary_table() -> str:
    """The same with an adversary who sees its cards."""
    lines = [
        [
            row["model"],
            f"{float(row['p']):g}",
            f"`{row['game']}`",
            f"{float(row['won_sb']):+.3f} ± {float(row['won_error']):.3f}",
            _won_from_bot(row),
            _risk(row),
            f"{float(row['seconds']):.0f}",
        ]
        for row in _rows("real_frontier")
    ]
    header = ["model of", "p", "buckets", "wins", "from the bot itself", "and risks", "seconds"]
    return table(header, lines)


def real_frontier_table() -> str:
    """The points of the picture: of several measurements of a strategy the exact one."""
    found: dict[tuple[str, str], Row] = {}
    for row in _rows("real_frontier"):
        if row["game"] == REAL_GAME and row["digest"] and row["risk_mb_per_game"]:
            key = row["model"], row["p"]
            if row["flops"] == "all" or key not in found:
                found[key] = row
    lines = []
    for (model, p), row in sorted(found.items()):
        risk, error = (float(row[name]) for name in ("risk_mb_per_game", "risk_error"))
        measured = f"{risk:.1f}, exact" if row["flops"] == "all" else f"{risk:,.0f} ± {error:.0f}"
        won = f"{float(row['won_sb']):+.3f}"
        seconds = f"{float(row['seconds']):.0f}"
        lines.append([model, f"{float(p):g}", seconds, won, _won_from_bot(row), measured])
    wins = ["wins from the model, sb/h", "from the bot itself", "and risks, mb/g"]
    return table(["model of", "p", "trained, s", *wins], lines)


TILTED = {
    "opponent": "the opponent",
    "equilibrium": "an equilibrium",
    "abstract": "response, adversary sees buckets",
    "real": "response, adversary sees its cards",
}


def tilted_table() -> str:
    """The experiment of Bard, Johanson & Bowling: as published, and what was measured of it."""
    lines = []
    for row in _rows("published_responses"):
        lines.append([f"published: {row['response']}", "", row["won_mb_per_game"]])
        lines[-1].append(row["risk_mb_per_game"])
    for row in _rows("tilted"):
        won = f"{float(row['won_mb_per_game']):.1f}" if row["won_mb_per_game"] else ""
        if won and float(row["won_error"]) >= 0.1:
            won += f" ± {float(row['won_error']):.1f}"
        name = f"{TILTED[row['player']]}, `{row['game']}`"
        lines.append([name, row["p"], won, _risk(row)])
    return table(["player", "p", "wins from the opponent, mb/g", "and risks, mb/g"], lines)


def adversaries_table() -> str:
    """The same buckets and the same trust, against either adversary: what is won from the bot."""
    lines = []
    for seen in _rows("abstract_frontier"):
        key = [seen[name] for name in ("model", "game", "p")]
        real = next(
            row
            for row in _rows("real_frontier")
            if [row[name] for name in ("model", "game", "p")] == key and row["flops"] == "all"
        )
        share = float(real["won_from_bot"]) / float(seen["won_from_bot"])
        for adversary, row, part in (("buckets", seen, ""), ("cards", real, f"{share:.0%}")):
            p = f"{float(row['p']):g}"
            lines.append([row["model"], p, adversary, _won_from_bot(row), part, _risk(row)])
    header = ["model of", "p", "the adversary sees", "wins from the bot itself", "of that"]
    return table([*header, "and risks, mb/g"], lines)


def _won_from_bot(row: dict[str, str]) -> str:
    won = row["won_from_bot"]
    return f"{float(won):+.3f} ± {float(row['bot_error']):.3f}" if won else ""


def by_clock_table() -> str:
    """Strength by seconds on a device and on two processors."""
    lines = []
    for row in _rows("device_training"):
        half = (float(row["high"]) - float(row["low"])) / 2
        lines.append(
            [
                f"{row['algorithm']}, {int(row['buckets']):,} buckets",
                row["on"],
                f"{float(row['seconds']):.3g}",
                f"{float(row['sb_per_hand']):+.4f} ± {half:.4f}",
            ]
        )
    return table(["player", "on", "seconds", "sb/h"], lines)


SAMPLERS = ("mccfr-public", "mccfr-external", "mccfr", "mcts")


def samplers_table() -> str:
    """Strength of samplers by buckets and seconds of training."""
    groups: dict[tuple[int, float], dict[str, str]] = {}
    for row in _rows("public"):
        key = int(row["buckets"]), float(row["seconds"])
        groups.setdefault(key, {})[row["algorithm"]] = f"{float(row['sb_per_hand']):+.3f}"
    lines = [
        [f"{buckets:,}", f"{seconds:g}", *(group.get(name, "–") for name in SAMPLERS)]
        for (buckets, seconds), group in sorted(groups.items())
    ]
    return table(["buckets", "seconds", *(f"`{name}`" for name in SAMPLERS)], lines)


def abstractions_table() -> str:
    """Exploitability by kind and buckets, for CFR and CFR-BR."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for row in _rows("abstractions"):
        cell = f"{float(row['mb_per_game']):.1f}"
        groups.setdefault((row["kind"], row["buckets"]), {})[row["algorithm"]] = cell
    lines = [
        [f"`{kind}`", buckets, *(group.get(name, "") for name in ("mccfr-external", "cfr-br"))]
        for (kind, buckets), group in groups.items()
    ]
    return table(["kind", "buckets", "CFR, mb/g", "CFR-BR, mb/g"], lines)


def cfr_br_table() -> str:
    """Exploitability in limit hold'em over time; what was measured again alike has one row."""
    lines = [
        (
            f"`{row['game']}`",
            f"`{row['algorithm']}`",
            f"{int(row['iterations']):,}",
            f"{float(row['seconds']):.0f}",
            "exact" if row["flops"] == "all" else f"{row['flops']} flops",
            f"{float(row['mb_per_game']):.1f}"
            + ("" if row["flops"] == "all" else f" ± {float(row['plus_minus']):.0f}"),
        )
        for row in sorted(_rows("cfr_br"), key=_place)
    ]
    different = [list(line) for line in dict.fromkeys(lines)]
    return table(["game", "algorithm", "iterations", "seconds", "measured", "mb/g"], different)


def _place(row: Row) -> tuple[str, str, float, bool]:
    return row["algorithm"], row["game"], float(row["seconds"]), row["flops"] == "all"


HOLDEM = {
    "abstractions": abstractions_table,
    "cfr-br": cfr_br_table,
    "samplers": samplers_table,
    "exact": exact_table,
    "precision": precision_table,
    "training": training_table,
    "device": device_table,
    "untrained": untrained_table,
    "by-board": by_board_table,
    "risk": risk_table,
    "real-adversary": real_adversary_table,
    "real-frontier": real_frontier_table,
    "adversaries": adversaries_table,
    "tilted": tilted_table,
    "by-clock": by_clock_table,
}
