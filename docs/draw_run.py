"""Draws docs/run.svg, the picture of a run in the README, from the history in a run folder.

python docs/draw_run.py DIR docs/run.svg
"""

import io
import sys
from pathlib import Path

from rich.console import Console
from speciate.core.events import IndividualAdmitted, OffspringRefused, RecordBroken, RunStarted
from speciate.core.folder import RunFolder
from speciate.plugins.reporters.progress import Progress


def draw(directory: Path, picture: Path) -> None:
    """Feed a run's history to the live display and write what it shows at the end."""
    folder = RunFolder.open(directory, write=False)
    problem, store, told = folder.load_problem(), folder.store, folder.told()
    records = {payload["id"]: payload for _, payload in store.events("record_broken")}
    known = problem.best_known
    display = Progress(Progress.Options(style="plain"), io.StringIO())
    display.run_started(
        RunStarted(
            directory, problem.name, problem.objective, None if known is None else known[0],
            told["settings"]["seed"], 2, told["lag"], {}, seconds=folder.seconds_spent(),
        )
    )  # fmt: skip
    evaluations = 0
    for proposals, birth in enumerate(store.births(), 1):
        selection = birth.selection
        if birth.refusal is not None:
            reason = birth.refusal.reason
            display.offspring_refused(OffspringRefused(selection.ticket, 0, birth.operator, reason, ""))
        if birth.individual is not None:
            evaluations += 1
            evaluation = store.material(birth.individual.id).evaluation
            display.individual_admitted(
                IndividualAdmitted(birth.individual, evaluation, True, evaluations, proposals, 0.0)
            )
            if birth.individual.id in records:
                display.record_broken(RecordBroken(birth.individual, evaluation, None))
    console = Console(record=True, width=92, file=io.StringIO(), force_terminal=True)
    display._console = console
    console.print(display._render())
    picture.write_text(console.export_svg(title=f"speciate run {problem.name}"), encoding="utf-8")


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
