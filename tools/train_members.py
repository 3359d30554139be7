"""Trains the equilibrium and the members that come with the package: robust responses to known
players of the default portfolio, with adversary="real". Needs a CUDA device (`--backend cpu`:
hours).

    python -m tools.train_members --ps 0.5,0.75 --equilibrium 40 --seconds 12 --out FOLDER
    python -m tools.train_members --measure --flops 48 --out FOLDER
    python -m tools.train_members --ship FOLDER --p 0.75 --date 2026-11-19

The first trains an equilibrium by CFR-BR, and then a response to each player for each p, both
seats, each for half of the seconds, the larger p from where the smaller ended; FOLDER gets a file
for each, as soon as it is there, and what is there is not trained again. The second measures the
risk of the equilibrium and of the responses that are kept, eight for each p (`Portfolio.pruned`),
on sampled flops, into FOLDER/members.csv. The third writes the equilibrium and the eight of one p
into the package, and needs no device.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import write_rows
from benchmarks.real_frontier import MB, risks_of
from counterplay.core.base import files
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.registry import load
from counterplay.core.responses.compute import (
    ResponseParameters,
    compute_response,
    solvers_to_continue,
)
from counterplay.core.solvers.limits import Limits
from counterplay.core.solvers.run import solve
from counterplay.poker.adaptive.portfolio import GAME, MOST_MEMBERS, portfolio
from counterplay.poker.adaptive.portfolio_members import Portfolio, PortfolioMember
from counterplay.poker.adaptive.shipped_members import (
    EQUILIBRIUM,
    FOLDER,
    ShippedMember,
    entry_name,
)
from counterplay.poker.bots.shipped import (
    INDEX,
    LISTED,
    digest,
    read_facts,
    read_index,
    read_quantised,
    write_quantised,
)

#: Those that the sampled responses to all known players are pruned to, each type left out in turn;
#: and some more.
PLAYERS = (
    "maniac 85%", "folds-to-bets 85%", "over-bluffs 85%", "aggressive 85%", "fit-or-fold 85%",
    "slow-plays 85%", "probe", "always-call", "poki", "loose-passive 85%", "nit 85%",
    "always-raise", "folds-the-river 85%", "too-tight 85%",
)  # fmt: skip
ALGORITHM, ENGINE, SEED = "rnr", "cfr-br", 1
MEASURED, HEADER = "members.csv", ("member", "p", "digest", "flops", "mb_per_game", "plus_minus")
BEGUN = time.monotonic()


def say(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - BEGUN:6.1f}] {text}", flush=True)


def path_of(folder: Path, player: str, p: float) -> Path:
    return folder / f"{entry_name(player)}-p{p:g}.npz"


def prior_of(folder: Path, seconds: float, backend: str) -> Portfolio:
    """The known players, with the equilibrium that the folder has, or gets now."""
    path = path_of(folder, EQUILIBRIUM, 0.0)
    if not path.exists():
        found = solve(load(GAME), ENGINE, seconds=seconds, seed=SEED, backend=backend)
        facts = {"player": EQUILIBRIUM, "p": 0.0, "seconds": round(found.seconds, 1)}
        facts |= {"iterations": found.iterations, "seed": SEED, "algorithm": ENGINE}
        facts["command"] = f"python -m tools.train_members --equilibrium {seconds:g}"
        write_quantised(path, found.strategy, facts)
        say(f"{EQUILIBRIUM}: {found.iterations:,} iterations in {found.seconds:.1f} s")
    prior = portfolio(GAME, members=0, equilibrium=read_quantised(path, load(GAME)))
    assert isinstance(prior, Portfolio)
    return prior


def train(
    prior: Portfolio, names: Sequence[str], ps: Sequence[float], seconds: float, folder: Path,
    options: dict[str, Any],
) -> list[Path]:  # fmt: skip
    """Trains what is not in the folder yet, the first names first."""
    models, written = {player.name: player.model for player in prior.players}, []
    for name in names:
        if name not in models:
            raise BadParameter(f"the portfolio knows no {name!r}")
        parameters = ResponseParameters(
            prior.game, models[name], None, 0.0, ALGORITHM, ENGINE, SEED, options
        )
        started = solvers_to_continue(parameters)
        for p in sorted(ps):
            path = path_of(folder, name, p)
            if path.exists():
                continue
            found = compute_response(parameters.with_p(p), Limits(seconds=seconds), started=started)
            facts: dict[str, Any] = {"player": name, "p": p, "seconds": round(found.seconds, 1)}
            facts |= {"iterations": found.iterations, "seed": SEED, "algorithm": ALGORITHM}
            facts["command"] = (
                f"python -m tools.train_members --ps {','.join(map(str, ps))} --seconds {seconds:g}"
            )
            write_quantised(path, found.strategy, facts)
            written.append(path)
            say(f"{name}, p = {p:g}: {found.iterations:,} iterations in {found.seconds:.1f} s")
    return written


def kept(prior: Portfolio, folder: Path, p: float) -> Portfolio:
    """The portfolio of the responses for one p in a folder, pruned."""
    members = []
    for player in prior.players:
        path = path_of(folder, player.name, p)
        if path.exists():
            answer = read_quantised(path, prior.game)
            members.append(PortfolioMember(player.name, player.model, answer))
    every = Portfolio(prior.game, prior.equilibrium, tuple(members), prior.players)
    return every.pruned(MOST_MEMBERS)


def measure(prior: Portfolio, folder: Path, flops: int, backend: str) -> None:
    """Measures what is kept for each p, and the equilibrium; what was measured before stays."""
    rows = read_rows(folder)
    ps = {float(read_facts(path)["p"]) for path in folder.glob("*-p*.npz")} - {0.0}
    asked = [(EQUILIBRIUM, 0.0, prior.equilibrium)]
    for p in sorted(ps, reverse=True):
        asked += [(one.name, p, one.strategy) for one in kept(prior, folder, p).members]
    new = [one for one in asked if digest(one[2]) not in rows]
    risks = risks_of([one[2] for one in new], flops, backend) if new else []
    for (name, p, strategy), (mean, half) in zip(new, risks, strict=True):
        key = digest(strategy)
        rows[key] = (name, f"{p:g}", key, str(flops), f"{mean:.2f}", f"{half:.2f}")
        say("  ".join(rows[key]))
    write_rows(folder / MEASURED, HEADER, list(rows.values()))


def read_rows(folder: Path) -> dict[str, tuple[str, ...]]:
    """The rows of members.csv by digest."""
    path = folder / MEASURED
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as lines:
        return {row[2]: tuple(row) for row in list(csv.reader(lines))[1:]}


def ship(prior: Portfolio, folder: Path, p: float, date: str, to: Path = FOLDER) -> list[str]:
    """Writes the members for one p, each with its risk, in place of those that were there."""
    rows, entries = read_rows(folder), []
    to.mkdir(parents=True, exist_ok=True)
    pieces = [(EQUILIBRIUM, 0.0, prior.equilibrium)]
    pieces += [(one.name, p, one.strategy) for one in kept(prior, folder, p).members]
    for player, trust, strategy in pieces:
        path, key = path_of(folder, player, trust), digest(strategy)
        if key not in rows:
            raise BadParameter(f"the risk of {path.name} was not measured: --measure does")
        *_, flops, mean, half = rows[key]
        content, facts, name = path.read_bytes(), read_facts(path), entry_name(player)
        response = f"a restricted Nash response to {player} at p = {p:g}, against a real adversary"
        entries.append(
            ShippedMember(
                name=name,
                game=prior.game.name,
                summary="trained by CFR-BR" if player == EQUILIBRIUM else response,
                algorithm=str(facts["algorithm"]),
                seed=int(facts["seed"]),
                iterations=int(facts["iterations"]),
                exploitability=round(float(mean) / MB, 5),
                mb_per_game=float(mean),
                command=str(facts["command"]),
                date=date,
                sha256=hashlib.sha256(content).hexdigest(),
                plus_minus=float(half),
                flops=int(flops),
            )
        )
        files.write_bytes(to / f"{name}.npz", content)
    files.write_json(to / INDEX, {LISTED: [asdict(one) for one in entries]})
    read_index.cache_clear()
    names = [one.name for one in entries]
    for old in to.glob("*.npz"):
        if old.stem not in names:
            old.unlink()
    return names


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m tools.train_members", description=summary)
    parser.add_argument("--players", default=";".join(PLAYERS), help="names, separated by ;")
    parser.add_argument("--ps", default="0.5,0.75", help="trust in the model, by commas")
    parser.add_argument("--equilibrium", type=float, default=40.0, help="seconds of its training")
    parser.add_argument("--seconds", type=float, default=12.0, help="for each p")
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    parser.add_argument("--measure", action="store_true", help="the risks of what is in --out")
    parser.add_argument("--flops", type=int, default=48, help="of a measurement")
    parser.add_argument("--ship", type=Path, metavar="FOLDER", help="write them into the package")
    parser.add_argument("--p", type=float, default=0.75, help="with --ship")
    parser.add_argument("--date", help="with --ship")
    parser.add_argument("--out", type=Path, help="a folder")
    given = parser.parse_args(arguments)
    if given.ship is None and given.out is None:
        parser.error("say where the responses go: --out FOLDER")
    if given.ship is not None and given.date is None:
        parser.error("--ship needs --date")
    folder = given.ship or given.out
    folder.mkdir(parents=True, exist_ok=True)
    prior = prior_of(folder, given.equilibrium, given.backend)
    say(f"{len(prior.players)} known players")
    if given.ship is not None:
        print(*ship(prior, given.ship, given.p, given.date), sep="\n")
        return
    if given.measure:
        measure(prior, given.out, given.flops, given.backend)
        return
    ps = [float(text) for text in given.ps.split(",")]
    names, options = given.players.split(";"), {"backend": given.backend}
    train(prior, names, ps, given.seconds, given.out, options)


if __name__ == "__main__":
    main()
