"""The comparison that comes with speciate: paired by seed, with intervals, corrected for many comparisons."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...core.config_sources import Layer
from ...core.database import lock
from ...core.errors import RunFolderError
from ...core.loading import Plugins
from ...core.slots import Comparison
from .analyse import analyse
from .execute import execute
from .plan import Cell, make_plan
from .report import print_report, write_report
from .spec import read_design


class Paired(Comparison):
    """Paired comparison as rliable does it: the same seeds for all arms, interquartile means, bootstrap intervals.

    Every run is an ordinary run folder in `runs/` of the output folder, made by a worker process on one core; what is
    finished is not run again, what was cut short is resumed. No winner is named where the interval of the paired
    difference covers 0 or where the p-value, corrected by Holm, is not below 0.05.
    """

    def compare(
        self, tables: Layer, folder: Path, out: Path, workers: int | None, tell: Callable[[int, int, str], None]
    ) -> dict[str, Any]:
        design = read_design(tables, folder)
        out = out.absolute()
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunFolderError(f"the folder {out} cannot be made: {error.strerror}; give another --out") from None
        with lock(out):
            plan = make_plan(design, Plugins.installed(), out)

            def told(done: int, total: int, cell: Cell | None) -> None:
                tell(done, total, "" if cell is None else str(cell))

            executed = execute(
                plan.cells,
                out,
                workers=workers or design.workers or len(os.sched_getaffinity(0)),
                patience=design.patience,
                tell=told,
            )
            report = analyse(plan, executed)
            report["report"] = str(write_report(report, out))
        return report

    def show(self, report: Mapping[str, Any]) -> None:
        print_report(report)
