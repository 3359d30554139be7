"""How a run is shown: its metrics as a frame and as a curve."""

from __future__ import annotations

import math
from typing import Any

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.solvers.folder import Measurement


class RunShown(Tabular):
    """The metrics of a run: `run.plot()` is their curve."""

    game: Game
    algorithm: str
    iterations: int
    seconds: float
    strategy: Strategy
    metrics: tuple[Measurement, ...]

    def columns(self) -> Columns:
        """A row for each measurement."""
        return {name: [getattr(row, name) for row in self.metrics] for name in Measurement._fields}

    def _figure(self) -> Any:
        return draw_runs([self], f"{self.game.name}, {self.algorithm}")

    def _repr_html_(self) -> str:
        note = f"{self.iterations:,} iterations in {self.seconds:.3g} s"
        parts = [display.heading(f"{self.game.name}, {self.algorithm}", note)]
        if measured(self):
            last = measured(self)[-1].exploitability
            parts.append(display.facts({"exploitability (b1 + b2)": last}))
        if len(measured(self)) > 1:
            parts.append(display.picture(self._figure(), "exploitability against iterations"))
        return "".join([*parts, self.strategy._repr_html_()])


def measured(run: Any) -> list[Measurement]:
    """The measurements with an exploitability."""
    return [row for row in run.metrics if not math.isnan(row.exploitability)]


def draw_runs(runs: list[Any], title: str, name: str = "exploitability (b1 + b2)") -> Any:
    """Their metrics as curves, against iterations; where exploitability was not measured, the
    seconds."""
    from counterplay.core.base.plotting import curve, new_figure

    figure, axes = new_figure(1, 1, 6.5, 4.0)
    axis = axes[0, 0]
    for k, run in enumerate(runs):
        rows, label = measured(run), f"{run.algorithm}, seed {run.seed}"
        if rows:
            curve(axis, [r.iterations for r in rows], [r.exploitability for r in rows], label, k)
        else:
            name = "seconds"
            curve(
                axis,
                [r.iterations for r in run.metrics],
                [r.seconds for r in run.metrics],
                label,
                k,
            )
    if name != "seconds" and all(r.exploitability > 0 for run in runs for r in measured(run)):
        axis.set(yscale="log")
    axis.set(xscale="log", xlabel="iterations", ylabel=name, title=title)
    axis.legend(frameon=False, fontsize=8)
    return figure
