"""Tables of pages on play: the adaptive player, safe methods, luck adjustment, the protocol
and the browser, each from a committed CSV of benchmarks/."""

from __future__ import annotations

import number_tables
from number_tables import Row, table

import counterplay as cp
from counterplay.poker.adaptive.portfolio import GAME
from counterplay.poker.adaptive.shipped_members import shipped_members


def _rows(name: str) -> list[Row]:
    return number_tables.rows(f"../benchmarks/{name}.csv")


def adaptive_table() -> str:
    """What the adaptive player must reach, and what it does."""
    lines = []
    for row in _rows("adaptive"):
        mean, half, must = float(row["mean"]), float(row["half_interval"]), row["must"]
        if row["claim"].startswith(("thinking", "total loss")):  # in the file as what is left
            bound, entries, row["remark"] = (
                f"at most {-float(must):g}",
                f"{-mean:.3g}",
                row["remark"].replace("at least minus the budget", "the budget"),
            )
        else:
            bound = f"at least {float(must):+.3f}" if must else ""
            entries = f"{mean:+.3f}" + (f" ± {half:.3f}" if 0 < half < 100 else "")
        lines.append([row["against"], row["claim"], bound, entries, row["reached"], row["remark"]])
    return table(["against", "what", "must be", "measured", "reached", "remark"], lines)


def field_table() -> str:
    """What the adaptive player wins from the field of weak opponents in 3,000 hands."""
    lines = []
    for row in _rows("adaptive_field"):
        mean, half, must = float(row["mean"]), float(row["half_interval"]), row["must"]
        sign = -1.0 if row["claim"].startswith("thinking") else 1.0  # in the file as what is left
        bound = f"at {'most' if sign < 0 else 'least'} {sign * float(must):g}" if must else ""
        shape = ".3g" if must and abs(float(must)) > 1 else "+.3f"
        measured = f"{sign * mean:{shape}}"
        measured += f" ± {half:.3f}" if 0 < half < 100 else ""
        lines.append([row["against"], row["claim"], bound, measured, row["reached"], row["remark"]])
    return table(["against", "what", "must be", "measured", "reached", "remark"], lines)


def statements_table() -> str:
    """How often a leak is named, and something false is said."""
    entries = _rows("statements")
    return table(
        ["leak", "matches", "named", "after hands, median", "statements", "nothing false"],
        [list(row.values()) for row in entries],
    )


def rules_table() -> str:
    """Players by rules, who do not change."""
    lines = []
    for row in _rows("rules"):
        won, half, offline = (float(row[name]) for name in ("won", "half_interval", "offline"))
        of = f"{won / offline:.0%}"
        lines.append(
            [row["player"], row["alarms"], f"{won:+.2f} ± {half:.2f}", f"{offline:+.2f}", of]
        )
    return table(["player", "alarms", "won", "offline", "of that"], lines)


def luck_table() -> str:
    """Standard errors with the luck in and out."""
    lines = [
        [
            row["opponent"],
            *(f"{float(row[name]):.4f}" for name in ("plain", "duplicate", "adjusted", "both")),
            f"{float(row['fewer_hands']):.1f} times",
        ]
        for row in _rows("luck")
    ]
    header = ["plain", "duplicate", "luck-adjusted", "both", "fewer hands than duplicate alone"]
    return table(["against", *header], lines)


def _method(name: str) -> str:
    """A method in code type; `, knowing` is none of its name."""
    method, comma, more = name.partition(",")
    return f"`{method}`{comma}{more}"


def safe_table() -> str:
    """Safe methods by game and kind of opponent, beside the published winnings."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for row in _rows("safe"):
        known = f" ({float(row['published']):.4f})" if row["published"] else ""
        text = f"{float(row['won']):.3f} ± {float(row['standard_error']):.3f}{known}"
        groups.setdefault((row["game"], row["method"]), {})[row["against"]] = text
    kinds = list(dict.fromkeys(kind for line in groups.values() for kind in line))
    lines = [
        [game, _method(method), *(line.get(kind, "–") for kind in kinds)]
        for (game, method), line in groups.items()
    ]
    return table(["game", "method", *kinds], lines)


def members_table() -> str:
    """Hands that tell two members of a portfolio apart."""
    names = ("plain", "imaginary", "player", "believed")
    lines = []
    for row in _rows("members"):
        hands = [
            f"{int(row[f'{name}_hands']):,}" if row[f"{name}_hands"] else "–" for name in names
        ]
        shares = [f"{float(row[name]):.0%}" for name in ("right", "believed_within")]
        lines.append([row["opponent"], row["pairs"], *hands, *shares])
    return table(["opponent", "pairs", *names, "right", "within two errors"], lines)


def shipped_members_table() -> str:
    """What comes with the package for the default portfolio."""
    entries = shipped_members(cp.load(GAME)).values()
    lines = [[one.name, f"{one.mb_per_game:.0f} ± {one.plus_minus:.0f}"] for one in entries]
    return table(["equilibrium, and responses to", "exploitability, mb/g"], lines)


def acpc_table() -> str:
    """Hands per second over the protocol."""
    lines = [
        [
            f"{row['one']} against {row['two']}",
            row["players_in"],
            row["processors"],
            f"{int(row['hands_per_second']):,} ({int(row['least']):,} to {int(row['most']):,})",
        ]
        for row in _rows("acpc")
    ]
    return table(["players", "players sit in", "processors", "hands/s, median and range"], lines)


def browser_table() -> str:
    """How fast the pages are."""
    entries = _rows("web")
    lines = [[row["what"], row["measured"], row["must_be_below"] or "–"] for row in entries]
    return table(["", "measured", "must be below"], lines)


PLAY = {
    "adaptive": adaptive_table,
    "adaptive-field": field_table,
    "statements": statements_table,
    "rules": rules_table,
    "luck": luck_table,
    "safe": safe_table,
    "members": members_table,
    "shipped-members": shipped_members_table,
    "acpc": acpc_table,
    "browser": browser_table,
}
