"""Where each testable property of a published system is tested, and each fault of reference code.

Tests are named `test_property_NN_…` and `test_fault_NN_…`. Most properties have several.

Parent selection (1-17): tests/islands/test_selectors.py and tests/islands/test_more_selectors.py (1-11, 14-16),
tests/islands/test_puct.py (12, 13), tests/core/test_run_properties.py (17). Selection resumed half-way (15) is also in
tests/core/test_family_columns.py and tests/core/test_engine.py.
Admission and novelty (18-24, 27): tests/islands/test_novelty.py (18-20, 22, 23, 27),
tests/core/test_run_properties.py (21, 24).
Population and islands (28-36): tests/islands/test_island_model.py (28-30, 34, 35),
tests/islands/test_more_archives.py (31, 32), tests/islands/test_more_migration.py (33),
tests/core/test_run_properties.py (36). A history that is cut short (35) is tests/test_interruption.py: the database
commits tickets whole.
Accounting and comparison (72, 74, 77-79): tests/islands/test_fairness.py (72, 74),
tests/islands/compare/test_compare_figures.py (72), tests/islands/compare/test_compare_runs.py (77, 79),
tests/islands/test_cycles.py (78).

Faults: 1, 5, 9, 12 in tests/islands/test_faults.py; 4, 10 in tests/islands/test_island_model.py. The others have the
form of a property or a promise: 2 is property 21; 6, a failed step that loses an evaluation, is property 24; 7, one
call too many, is promise 6 and 8, a copy that ends the run, is promise 5 in tests/core/test_promises.py.
Faults 3 and 11 and the shaped reward of 8 are in parts that are not shipped: a bandit over models, a playbook, a
learner. So are properties 25 and 26, which belong to models.
"""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
NAMED = {
    kind: {
        int(number)
        for path in TESTS.rglob("test_*.py")
        for number in re.findall(rf"^def test_{kind}_0*(\d+)_", path.read_text("utf-8"), re.MULTILINE)
    }
    for kind in ("property", "fault")
}


@pytest.mark.parametrize("number", [*range(1, 25), *range(27, 37), 72, 74, *range(77, 80)])
def test_a_property_has_a_test_of_its_name(number: int) -> None:
    assert number in NAMED["property"]


@pytest.mark.parametrize("number", [1, 4, 5, 9, 10, 12])
def test_a_fault_has_a_test_of_its_name(number: int) -> None:
    assert number in NAMED["fault"]


def test_the_map_names_files_that_exist() -> None:
    assert __doc__ is not None
    for path in re.findall(r"tests/[\w/]+\.py", __doc__):
        assert (TESTS.parent / path).is_file(), path
