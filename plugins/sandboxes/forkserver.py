"""The fork server as a sandbox: one long-lived process with the imports done, one confined fork a candidate."""

import itertools
import json
import os
import threading
import warnings
from dataclasses import asdict
from typing import Any

from ...core.component import ComponentOptions
from ...core.errors import SpeciateError
from ...core.evaluation import Cost, RunResult, Status
from ...core.sandbox import Job, Level, Sandbox, SelfTest, Workspace
from .launching import CHILD_PARTS, child_parts, insist, request_of, withheld_packages
from .link import Link, LocalLink, Outage
from .results import run_result

_FIRST_USER, _USERS = 60001, 4096
_START_S, _SLACK_S = 120.0, 10.0
_SLOTS = itertools.count()
_STRONG = ("landlock", "seccomp")


class ForkServer(Sandbox):
    """Forks each candidate from a process that has done the imports, and confines it by Landlock, seccomp and more."""

    class Options(ComponentOptions, use_attribute_docstrings=True):
        """How strongly candidates are to be contained."""

        require: Level = "none"
        """Refuse to start when the containment that this machine gives is weaker than this."""
        namespaces: bool = True
        """Use private network, process, IPC and mount namespaces with a scratch folder, where the kernel gives them."""

    options: Options

    def open(self, workspace: Workspace) -> None:
        """Start the server. Raises SpeciateError when it cannot start or is weaker than required."""
        self._workspace = workspace
        self._link: Link | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._slot = next(_SLOTS)
        self.layers: dict[str, bool] = {}
        self.warning: str | None = None
        try:
            self._start()
            self._judge()
        except Outage as error:
            self.close()
            raise SpeciateError(f"the sandbox cannot start: {error}") from None
        except BaseException:
            self.close()
            raise

    def run(self, job: Job) -> RunResult:
        """Run one candidate. When the server itself dies a new one is started and the job is tried once more."""
        limits = self._workspace.limits
        request = json.dumps(request_of(job)).encode("ascii")
        fault = "the sandbox is closed"
        for _ in range(2):
            if self._closed:
                break
            try:
                link = self._link or self._start()
                link.send(request)
                about, body = link.receive(limits.wall_s + _SLACK_S)
            except Outage as error:
                fault = str(error)
                self._end()
                continue
            size = about["result"]
            return run_result(
                limits,
                stopped=about["stopped"],
                exit_code=about["exit"],
                result=body[:size],
                printed=body[size:],
                printed_more=about["printed_more"],
                cost=Cost(*about["cost"]),
            )
        return RunResult(Status.INFRA, None, f"the program could not be run: {fault}")

    def self_test(self) -> SelfTest:
        """Attack this sandbox from inside, and say what held."""
        from .self_test import self_test

        return self_test(self, self._workspace.limits)

    def close(self) -> None:
        """End the server and its candidate."""
        self._closed = True
        self._end()

    def _launch(self) -> Link:
        """Start the process that will be the server."""
        return LocalLink()

    def _start(self) -> Link:
        """Start a server, with namespaces if they are wanted and can be had."""
        fault = ""
        for namespaces in (True, False) if self.options.namespaces else (False,):
            with self._lock:
                if self._closed:
                    raise Outage("the sandbox was closed")
                link = self._link = self._launch()
            link.send(json.dumps(self._hello(namespaces)).encode("ascii"))
            about, _ = link.receive(_START_S)
            if "ready" in about:
                self.layers = about["layers"]
                return link
            self._end()
            fault = about["failed"]
            if "without" not in about:
                break
        raise SpeciateError(f"the sandbox cannot start: {fault}")

    def _judge(self) -> None:
        """Say how strong the containment is, and refuse or warn when it is weak."""
        missing = ", ".join(name for name in _STRONG if not self.layers.get(name))
        self.level = "basic" if missing else "strong"
        if missing:
            insist(self.options.require, self.level, f"it has no {missing}")
            self.warning = f"candidates are contained weakly, without {missing}: run no program you do not trust"
            warnings.warn(self.warning, RuntimeWarning, stacklevel=3)

    def _hello(self, namespaces: bool) -> dict[str, Any]:
        """Return what a server is told before it serves."""
        workspace = self._workspace
        # Every slot of every engine has a user of its own, as far as there are enough of them.
        user = _FIRST_USER + (os.getpid() * 16 + self._slot) % _USERS
        return {
            "parts": child_parts(*CHILD_PARTS),
            "preload": workspace.preload,
            "modules": dict(workspace.modules),
            "limits": asdict(workspace.limits),
            "withheld": withheld_packages(),
            "namespaces": namespaces,
            "user": user if hasattr(os, "geteuid") and os.geteuid() == 0 else None,
            "scratch": None,
        }

    def _end(self) -> None:
        """End the server, if there is one. May come from any thread."""
        with self._lock:
            link, self._link = self._link, None
        if link is not None:
            link.close()
