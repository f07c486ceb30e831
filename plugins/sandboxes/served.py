"""What every sandbox with a fork server has in common: starting it, asking it, replacing it, ending it."""

import json
import threading
from abc import abstractmethod
from dataclasses import asdict
from typing import Any

from ...core.errors import SpeciateError
from ...core.evaluation import Cost, RunResult, Status
from ...core.sandbox import Job, Sandbox, SelfTest, Workspace
from .launching import CHILD_PARTS, child_parts, request_of, withheld_packages
from .link import Link, Outage
from .results import run_result

_START_S, _SLACK_S = 120.0, 10.0


class ServedSandbox(Sandbox):
    """Sends each candidate to a fork server at the other end of a link.

    After `open`, `layers` says what the server found on this machine, and `warning` what is wrong with that, or None.
    """

    def open(self, workspace: Workspace) -> None:
        """Start the server. Raises SpeciateError when it cannot start or is weaker than required."""
        self._workspace = workspace
        self._link: Link | None = None
        self._lock = threading.Lock()
        self._closed = False
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
        fault = ""
        for _ in range(2):
            if self._closed:
                break
            try:
                link = self._link or self._start()
                link.send(request)
                about, body = link.receive(limits.wall_s + _SLACK_S)
                if about["fault"]:
                    raise Outage(f"it could not be confined: {about['fault']}")
            except (Outage, SpeciateError) as error:
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
        fault = "the sandbox is closed" if self._closed else fault
        return RunResult(Status.INFRA, None, f"the program could not be run: {fault}")

    def self_test(self) -> SelfTest:
        """Attack this sandbox from inside, and say what held."""
        from .self_test import self_test

        return self_test(self, self._workspace.limits)

    def close(self) -> None:
        """End the server and its candidate."""
        self._closed = True
        self._end()

    @abstractmethod
    def _launch(self) -> Link:
        """Start what will be the server, and return the line to it. Raises SpeciateError or Outage."""

    @abstractmethod
    def _judge(self) -> None:
        """Set `level` and `warning` by `layers`. Raises SpeciateError when that is less than was required."""

    def _ways(self) -> tuple[dict[str, Any], ...]:
        """Return what a server is told besides the workspace, the best way first."""
        return ({"namespaces": False, "user": None, "scratch": None},)

    def _start(self) -> Link:
        """Start a server in the best way that works."""
        fault = ""
        for way in self._ways():
            link = self._launch()
            with self._lock:
                self._link = link
            if self._closed:
                self._end()
                raise Outage("the sandbox was closed")
            link.send(json.dumps({**self._hello(), **way}).encode("ascii"))
            about, _ = link.receive(_START_S)
            if "ready" in about:
                self.layers = about["layers"]
                return link
            self._end()
            fault = about["failed"]
            if "without" not in about:
                break
        raise SpeciateError(f"the sandbox cannot start: {fault}")

    def _hello(self) -> dict[str, Any]:
        """Return what a server is told of the workspace."""
        workspace = self._workspace
        return {
            "parts": child_parts(*CHILD_PARTS),
            "preload": workspace.preload,
            "modules": dict(workspace.modules),
            "limits": asdict(workspace.limits),
            "withheld": withheld_packages(),
        }

    def _end(self) -> None:
        """End the server, if there is one. May come from any thread."""
        with self._lock:
            link, self._link = self._link, None
        if link is not None:
            link.close()
