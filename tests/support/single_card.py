"""Kuhn poker and Leduc hold'em for the traversal of the public tree: one private card each."""

from __future__ import annotations

from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.vector.chance import SingleCardChance

KUHN = BettingRules((1.0, 1.0), (1.0,), (1,), (0,), first=(0,))
LEDUC = BettingRules((1.0, 1.0), (2.0, 4.0), (2, 2), (0, 1), first=(0, 0))


def rules_and_chance(name: str) -> tuple[BettingRules, SingleCardChance]:
    if name == "kuhn":
        return KUHN, SingleCardChance(3, 1, lambda card, public: card)
    return LEDUC, SingleCardChance(6, 2, _leduc_strength)


def _leduc_strength(card: int, public: int | None) -> int:
    assert public is not None
    rank = card // 2
    return 10 + rank if rank == public // 2 else rank


def _kuhn_label(label: str) -> tuple[str, int, int]:
    card, _, history = label.partition(" ")
    return history.replace("p", "c").replace("b", "r"), 0, "JQK".index(card)


def _leduc_label(label: str) -> tuple[str, int, int]:
    cards, _, history = label.partition(" ")
    private, *public = [
        ["Js", "Jh", "Qs", "Qh", "Ks", "Kh"].index(card) for card in cards.split("|")
    ]
    return history, public[0] if public else 0, private


#: Functions of a label: the betting history, the public card (0 if none) and the private card.
LABELS = {"kuhn": _kuhn_label, "leduc": _leduc_label}
