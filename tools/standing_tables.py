"""Tables of the page on where things stand, of exams and of networks, from committed CSVs."""

from __future__ import annotations

import number_tables
from number_tables import Row, table


def _rows(name: str) -> list[Row]:
    return number_tables.rows(f"../benchmarks/{name}.csv")


def _standing(measure: str, show: str) -> list[list[str]]:
    """Our values beside the published ones of the same game and method."""
    ours = {(row["game"], row["method"]): row for row in _rows("standing")}
    published = [row for row in _rows("standing_published") if row["measure"] == measure]
    keys = [(row["game"], row["method"]) for row in published]
    keys = [
        key for key, row in ours.items() if row["measure"] == measure and key not in keys
    ] + keys
    by_key = {(row["game"], row["method"]): row for row in published}
    lines = []
    for key in keys:
        one, other = ours.get(key), by_key.get(key)
        mine = "" if one is None or one["measure"] != measure else format(float(one["value"]), show)
        theirs = "" if other is None else format(float(other["value"]), show)
        lines.append([*key, mine, theirs, "" if other is None else other["source"]])
    return lines


def leduc_table() -> str:
    """Exploitability in Leduc, mA/g."""
    lines = [line[1:] for line in _standing("exploitability", ".3g")]
    return table(["method", "here, mA/g", "published, mA/g", "source"], lines)


def values_table() -> str:
    """Values of small games."""
    lines = [[line[0], *line[2:]] for line in _standing("value to player 1", ".6f")]
    return table(["game", "here", "published", "source"], lines)


def exact_table() -> str:
    """Exploitability of two simple players of limit hold'em, which is published."""
    published = {"always-fold": 750.0, "always-call": 1163.48}
    lines = [
        [row["strategy"], f"{float(row['mb_per_game']):.2f}", f"{published[row['strategy']]:.2f}"]
        for row in _rows("exact")
        if row["strategy"] in published
    ]
    return table(["player", "here, mb/g", "Johanson et al. 2011"], lines)


def exam_table() -> str:
    """Programs in exams of 3,000 hands."""
    lines = [
        [
            row["player"],
            row["opponent"],
            f"{float(row['value']):+.3f} ± {1.96 * float(row['value_error']):.3f}",
            f"{float(row['exam_mean']):+.3f} ± {1.96 * float(row['exam_error']):.3f}",
            f"{row['told_apart']} of {row['exams']}",
            row["wrong"],
            f"{float(row['median_hands']):,.0f}",
            f"{float(row['deviation']):.2f} ({float(row['deviation_with_luck']):.2f})",
        ]
        for row in _rows("exam")
    ]
    header = ["player", "against", "true value, sb/h", "mean of the exams", "told apart", "wrong"]
    more = ["median hands", "deviation of a deal (with luck)"]
    return table([*header, *more], lines)


def coverage_table() -> str:
    """Exams of players whose exact value is known."""
    lines = [
        [
            row["player"],
            row["opponent"],
            row["hands"],
            f"{float(row['value']):+.3f}",
            f"{float(row['exam_mean']):+.3f} ± {1.96 * float(row['exam_error']):.3f}",
            row["exams"],
            row["missed_at_any_time"],
            row["missed_at_the_end"],
        ]
        for row in _rows("exam_coverage")
    ]
    header = ["player", "against", "hands", "exact value, sb/h", "mean of the exams", "exams"]
    return table([*header, "missed it at any time", "at the end"], lines)


def sequences_table() -> str:
    """How often intervals of an exam ever miss the truth, by the shape of payoffs."""
    lines = [
        [row["shape"], *(f"{float(row[name]):.1%}" for name in ("missed_100", "missed_1500"))]
        for row in _rows("sequences")
    ]
    return table(["luck-adjusted payoffs", "200 hands", "3,000 hands"], lines)


def network_table() -> str:
    """What it took to measure a network in Flop Hold'em."""
    lines = [
        [
            row["device"],
            f"{row['layers']} of {row['width']}",
            f"{int(row['calls']):,}",
            f"{float(row['exploitability']):.4f}",
            minutes(row["seconds"]),
            minutes(str(float(row["seconds"]) - float(row["network_seconds"]))),
            minutes(row["processor_seconds"]),
        ]
        for row in _rows("policy_network")
    ]
    header = ["device", "layers", "calls", "exploitability, sb/h", "time", "outside the network"]
    return table([*header, "processor time"], lines)


def minutes(seconds: str) -> str:
    """Seconds as minutes and seconds."""
    return "{} min {:02} s".format(*divmod(round(float(seconds)), 60))


STANDING = {
    "standing-leduc": leduc_table,
    "standing-values": values_table,
    "standing-exact": exact_table,
    "exam": exam_table,
    "exam-coverage": coverage_table,
    "exam-shapes": sequences_table,
    "policy-network": network_table,
}
