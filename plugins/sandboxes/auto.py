"""The strongest sandbox that needs nothing installed: the fork server where it starts, else a plain process."""

import sys
import warnings

from ...core.component import ComponentOptions
from ...core.errors import SpeciateError
from ...core.evaluation import RunResult, Status
from ...core.sandbox import Job, Level, Sandbox, SelfTest, Workspace
from .forkserver import ForkServer
from .process import ProcessSandbox


class AutoSandbox(Sandbox):
    """Is the fork server on Linux, and a plain process, with a warning, where that cannot be had."""

    class Options(ComponentOptions, use_attribute_docstrings=True):
        """How strongly candidates are to be contained."""

        require: Level = "none"
        """Refuse to start when the containment that this machine gives is weaker than this."""

    options: Options

    def open(self, workspace: Workspace) -> None:
        """Open the strongest that works. Raises SpeciateError when none does, or when more is required."""
        self._inner: Sandbox | None = None
        self._closed = False
        require = self.options.require
        if sys.platform != "linux":
            self._use(ProcessSandbox(ProcessSandbox.Options(require=require)), workspace)
            return
        try:
            self._use(ForkServer(ForkServer.Options(require=require)), workspace)
        except SpeciateError as error:
            try:
                self._use(ProcessSandbox(ProcessSandbox.Options(require=require)), workspace)
            except SpeciateError:
                # What the stronger one said is nearer to what is to be mended.
                raise error from None
            warnings.warn(f"the fork server cannot be had: {error}", RuntimeWarning, stacklevel=2)

    def run(self, job: Job) -> RunResult:
        """Run one candidate in whatever was opened."""
        if self._inner is None:
            return RunResult(Status.INFRA, None, "the program could not be run: the sandbox is closed")
        return self._inner.run(job)

    def self_test(self) -> SelfTest:
        """Attack whatever was opened, and say what held."""
        return super().self_test() if self._inner is None else self._inner.self_test()

    def close(self) -> None:
        """End whatever was opened."""
        self._closed = True
        if self._inner is not None:
            self._inner.close()

    def _use(self, sandbox: Sandbox, workspace: Workspace) -> None:
        sandbox.open(workspace)
        self._inner, self.level = sandbox, sandbox.level
        if self._closed:
            sandbox.close()
