"""The cycle metric: lines that come back."""

import pytest
from speciate.islands.cycles import CycleCount


def count(*programs: tuple[int, int | None, str]) -> CycleCount:
    cycles = CycleCount()
    for id, parent, text in programs:
        cycles.add(id, parent, [text.replace(";", "\n")])
    return cycles


def test_property_78_the_cycle_metric_is_the_share_of_added_lines_that_were_deleted_before() -> None:
    cycles = count((0, None, "a;b"), (1, 0, "a;c"), (2, 1, "a;b"), (3, 2, "a;b;d"))
    assert (cycles.added, cycles.returned) == (3, 1)
    assert cycles.share == pytest.approx(1 / 3)


def test_a_line_returns_only_within_its_own_lineage() -> None:
    cycles = count((0, None, "a;b"), (1, 0, "a"), (2, 0, "a;b;c"), (3, 2, "a;b"), (4, 1, "a;c"))
    assert cycles.returned == 0, "c was deleted by a cousin"


def test_a_line_that_comes_and_goes_counts_each_time_it_comes() -> None:
    cycles = count((0, None, "a"), (1, 0, "b"), (2, 1, "a"), (3, 2, "b"), (4, 3, "a"))
    assert (cycles.added, cycles.returned) == (4, 3)


def test_space_around_a_line_is_no_change_and_empty_lines_do_not_count() -> None:
    cycles = count((0, None, "a;b"), (1, 0, "  a;;b  "))
    assert cycles.share is None
