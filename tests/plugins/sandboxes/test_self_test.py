"""The self-test says what holds, and its attacks do work where nothing stops them."""

import pytest
from boxes import LIMITS
from speciate.core.sandbox import Workspace
from speciate.plugins.sandboxes.forkserver import ForkServer
from speciate.plugins.sandboxes.process import ProcessSandbox


def test_a_strong_sandbox_holds_against_every_attack(sandbox: ForkServer) -> None:
    report = sandbox.self_test()
    attacks = {name: holds for name, holds in report.layers.items() if name not in sandbox.layers}
    assert len(attacks) >= 12
    if sandbox.level != "strong":
        pytest.skip(f"this machine lacks {[m.layer for m in report.missing]}")
    assert all(attacks.values()), report.missing
    assert report.level == "strong"


def test_a_layer_that_is_switched_off_is_told_as_missing() -> None:
    box = ForkServer(ForkServer.Options(namespaces=False))
    box.open(Workspace(limits=LIMITS))
    try:
        report = box.self_test()
    finally:
        box.close()
    assert report.layers["namespaces"] is False
    assert "namespaces" in {m.layer for m in report.missing}
    assert all(m.stops for m in report.missing)


@pytest.mark.filterwarnings("ignore:candidates are contained by a process alone:RuntimeWarning")
def test_the_attacks_get_through_where_nothing_stops_them() -> None:
    box = ProcessSandbox()
    box.open(Workspace(limits=LIMITS))
    try:
        report = box.self_test()
    finally:
        box.close()
    assert report.level == "basic"
    open_ones = {name for name, holds in report.layers.items() if not holds}
    assert open_ones >= {
        "private files", "read-only files", "private engine", "fixed file modes",
        "closed network", "closed local services", "signal barrier", "private processes",
        "process limit", "disk limit",
    }  # fmt: skip
