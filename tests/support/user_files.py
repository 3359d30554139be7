"""Files as users write them, for the command line: a game and two bots."""

from __future__ import annotations

GAME = """
from dataclasses import dataclass

import counterplay as cp

BEATS = {"rock": "scissors", "paper": "rock", "scissors": "paper"}


@dataclass(frozen=True)
class State:
    rules: object
    chosen: tuple = ()

    def player(self):
        return len(self.chosen) if len(self.chosen) < 2 else cp.TERMINAL

    def actions(self):
        return list(BEATS)

    def child(self, action):
        return State(self.rules, (*self.chosen, action))

    def infoset(self):
        return f"turn {len(self.chosen) + 1}"

    def payoffs(self):
        one, two = self.chosen
        gain = self.rules.double if {one, two} == {"rock", "scissors"} else 1
        sign = (BEATS[one] == two) - (BEATS[two] == one)
        return [gain * sign, -gain * sign]


class Rps:
    n_players = 2

    def __init__(self, double=2):
        self.double = double

    def root(self):
        return State(self)


class NoPayoffs(Rps):
    def root(self):
        class Bare:
            player = lambda self: cp.TERMINAL
            __repr__ = lambda self: "Bare()"
        return Bare()


class Fails(Rps):
    def root(self):
        class Broken(State):
            def child(self, action):
                return {}[action]
        return Broken(self)
"""

BOTS = """
class Caller:
    name = "caller"

    def act(self, view):
        return "call"


class Broken:
    name = "broken"

    def act(self, view):
        return view.nothing


class Nobody:
    pass
"""
