"""The strongest that this machine gives is used, and what is weaker is said."""

import sys

import pytest
from boxes import LIMITS, job
from speciate.core.errors import SpeciateError
from speciate.core.sandbox import Workspace
from speciate.core.testing import SandboxContract
from speciate.plugins.sandboxes.auto import AutoSandbox
from speciate.plugins.sandboxes.forkserver import ForkServer

pytestmark = pytest.mark.filterwarnings("ignore:candidates are contained by a process alone:RuntimeWarning")


class TestAuto(SandboxContract):
    def component(self) -> AutoSandbox:
        return AutoSandbox()


def test_elsewhere_it_is_a_process_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    box = AutoSandbox()
    with pytest.warns(RuntimeWarning, match="by a process alone"):
        box.open(Workspace(limits=LIMITS))
    monkeypatch.undo()
    try:
        assert box.level == "basic"
        assert box.run(job("def main():\n    return 1\n")).value == "1"
    finally:
        box.close()


def test_a_fork_server_that_cannot_start_is_replaced_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForkServer, "_ways", lambda self: ({"namespaces": False, "user": None},))
    box = AutoSandbox()
    with pytest.warns(RuntimeWarning, match="the fork server cannot be had"):
        box.open(Workspace(limits=LIMITS))
    assert box.level == "basic"
    box.close()


def test_nothing_weaker_is_taken_when_strong_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForkServer, "_ways", lambda self: ({"namespaces": False, "user": None},))
    with pytest.raises(SpeciateError, match="the sandbox cannot start"):
        AutoSandbox(AutoSandbox.Options(require="strong")).open(Workspace(limits=LIMITS))


def test_a_module_that_cannot_be_preloaded_is_named() -> None:
    with pytest.raises(SpeciateError, match="No module named 'no_such_module'"):
        AutoSandbox().open(Workspace(preload=("no_such_module",)))
