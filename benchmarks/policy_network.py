"""How long it takes to measure a network exactly: a PyTorch network with random weights plays Flop
Hold'em; its best responses are computed over all flops.

The network sees ranks and suits of holding and board, how both meet, and the betting; it does not
tell suits apart. Writes a row of benchmarks/policy_network.csv; `network_seconds` are those within
the network, `seconds` all, after a small game that compiles the kernels; `processor_seconds` are
those of all threads, which say on a shared machine what an idle one needs at most. Run, where
PyTorch is installed: python -m benchmarks.policy_network [--device cuda] [--layers 3] [--width 128]
On a shared machine OMP_WAIT_POLICY=PASSIVE keeps threads that wait off the processor."""

from __future__ import annotations

import argparse
import csv
import platform
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.poker.betting.betting import ACTIONS, Betting
from counterplay.poker.cards.cards import HOLDING_CARDS

OUT = Path(__file__).parent / "policy_network.csv"
HEADER = ["device", "layers", "width", "parameters", "batch", "calls", "exploitability", "seconds",
          "processor_seconds", "network_seconds"]  # fmt: skip
GAME = "flop_holdem"
BATCHES = {"cpu": 16, "cuda": 1_024}  # boards times public nodes
RANKS, SUITS = 13, 4
LONGEST = 8  # actions of a hand that the network sees, a place for each of 3


class _Torch:
    """PyTorch, which is none of the dependencies, from its first use on."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("torch"), name)


torch: Any = _Torch()


class Network:
    """A function of boards and betting: fully connected layers, rectified, then a softmax over
    legal actions. Features of the holding alone are added to those of the board alone before the
    first layer's rectifier, so that only features of both are made for each pair."""

    def __init__(self, device: str, layers: int, width: int, seed: int = 0) -> None:
        made = torch.Generator().manual_seed(seed)

        def weights(inputs: int, outputs: int) -> Any:
            random = torch.randn(inputs, outputs, generator=made)
            return (random * (2.0 / inputs) ** 0.5).to(device)

        cards = torch.as_tensor(np.array(HOLDING_CARDS, np.int64), device=device)
        self._rank, self._suit = cards // SUITS, cards % SUITS  # [1326, 2]
        of_holding = torch.nn.functional.one_hot(self._rank, RANKS).sum(dim=1)
        suited = (self._suit[:, :1] == self._suit[:, 1:]).float()
        self._holding = torch.cat([of_holding.float(), suited], dim=1)
        self._device, self.seconds = device, 0.0
        self._of_holding = weights(RANKS + 1, width)
        self._of_board = weights(RANKS + SUITS + 3 * LONGEST, width)
        self._of_both = weights(4, width)
        self._hidden = [weights(width, width) for _ in range(layers - 1)]
        self._last = weights(width, len(ACTIONS))

    @property
    def parameters(self) -> int:
        every = [self._of_holding, self._of_board, self._of_both, *self._hidden, self._last]
        return sum(one.numel() for one in every)

    def __call__(self, boards: Any, betting: Sequence[Betting]) -> Any:
        before = time.perf_counter()
        with torch.no_grad():
            answer = self._answer(boards, betting)
            if self._device == "cuda":
                torch.cuda.synchronize()
        self.seconds += time.perf_counter() - before
        return answer

    def _answer(self, boards: Any, betting: Sequence[Betting]) -> Any:
        rank, suit = boards // SUITS, boards % SUITS
        ranks = torch.nn.functional.one_hot(rank, RANKS).sum(dim=1).float()
        suits = torch.nn.functional.one_hot(suit, SUITS).sum(dim=1)  # how many of each
        public = torch.cat([ranks, suits.sort(dim=1).values.float(), self._past(betting)], dim=1)
        both = torch.cat([ranks[:, self._rank], suits[:, self._suit].float()], dim=2)
        x = (public @ self._of_board)[:, None] + (self._holding @ self._of_holding)[None]
        x = (x + both @ self._of_both).relu_()
        for layer in self._hidden:
            x = (x @ layer).relu_()
        legal = [[action in state.actions() for action in ACTIONS] for state in betting]
        mask = torch.tensor(legal, device=self._device)[:, None]
        return (x @ self._last).masked_fill_(~mask, -torch.inf).softmax(dim=2)

    def _past(self, betting: Sequence[Betting]) -> Any:
        past = torch.zeros(len(betting), 3 * LONGEST)
        for k, state in enumerate(betting):
            for place, letter in enumerate(state.history.replace("/", "")[:LONGEST]):
                past[k, 3 * place + "fcr".index(letter)] = 1.0
        return past.to(self._device)


def calls(boards: Any, betting: Sequence[Betting]) -> Any:
    """Checks and calls."""
    return np.broadcast_to([0.0, 1.0, 0.0], (len(betting), len(HOLDING_CARDS), len(ACTIONS)))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.policy_network")
    parser.add_argument("--device", choices=BATCHES, default="cpu")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=128)
    given = parser.parse_args(words)
    add_row(measured(given.device, given.layers, given.width))


def measured(device: str, layers: int, width: int) -> Sequence[object]:
    """A row: how long it takes to measure a network exactly."""
    network = Network(device, layers, width)
    options = {"arrays": "torch", "device": device, "batch": BATCHES[device]}
    small = "flop_holdem(buckets=2,bets=1)"
    cp.exploitability(small, cp.VectorPolicy(calls))
    policy = cp.VectorPolicy(network, "network", **options)
    policy.ask(np.zeros((1, 0), dtype=np.int64), [cp.load(small).rules.tree.states[0]])
    network.seconds = policy.calls = 0
    expected = policy.expected_calls(cp.load(GAME))
    before, spent = time.perf_counter(), time.process_time()
    value = cp.exploitability(GAME, policy)
    seconds, spent = time.perf_counter() - before, time.process_time() - spent
    assert policy.calls == expected, (policy.calls, expected)
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor()
    threads = f"{torch.get_num_threads()} threads"
    where = name if device == "cuda" else f"{name or platform.machine()}, {threads}"
    return (where, layers, width, network.parameters, policy.batch, policy.calls,
            value, round(seconds, 1), round(spent, 1), round(network.seconds, 1))  # fmt: skip


def add_row(row: Sequence[object]) -> None:
    """Adds a row to the file, in place of an older one of the same network and machine."""
    rows: list[Sequence[object]] = [row]
    if OUT.exists():
        with OUT.open(newline="") as file:
            rows += [old for old in list(csv.reader(file))[1:] if old[:3] != [*map(str, row[:3])]]
    write_rows(OUT, HEADER, rows)
    print("  ".join(f"{name} {part}" for name, part in zip(HEADER, row, strict=True)))


if __name__ == "__main__":
    main()
