"""Programs that nobody runs: the text of the main file is the output, and only that is judged."""

import json

from .evaluation import Cost, RunResult, Status
from .sandbox import Job, Sandbox, Workspace


class Reading(Sandbox):
    """Hands the text of a program's main file on as its output. There is nothing to contain."""

    level = "strong"
    _limit = 0

    def open(self, workspace: Workspace) -> None:
        """Learn how long a text may be."""
        self._limit = workspace.limits.output_bytes

    def run(self, job: Job) -> RunResult:
        """Return the text as JSON."""
        text = json.dumps(job.program.text(job.main))
        if len(text) > self._limit:
            reason = (
                f"{job.main} has {len(text)} characters as JSON; the limit is {self._limit} (output_kb in [limits])"
            )
            return RunResult(Status.INVALID, None, reason=reason, cost=Cost())
        return RunResult(Status.OK, text, cost=Cost())

    def close(self) -> None:
        """Do nothing: nothing was started."""
