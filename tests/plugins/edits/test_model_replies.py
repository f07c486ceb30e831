"""Replies as models give them, each with the outcome that it must have."""

import json
from pathlib import Path
from typing import Any

import pytest
from speciate.core.program import Program
from speciate.plugins.edits.reading import offspring

HERE = Path(__file__).parent
SHARED = HERE.parents[3] / "shared" / "cases" / "model_replies.json"
CASES = json.loads((SHARED if SHARED.is_file() else HERE / "model_replies.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_reply_has_the_outcome_it_must_have(case: dict[str, Any]) -> None:
    parent = Program.of({"program.py": case["source"]})
    result = offspring(parent, case["reply"], "program.py", case["mode"], case["finish_reason"])
    expected = case["expect"]
    assert isinstance(result, Program) == (expected["outcome"] == "applied"), result
    if isinstance(result, Program):
        text = result.text("program.py")
        assert all(part in text for part in expected["contains"])
        assert not any(part in text for part in expected["absent"])
        assert text.startswith(expected["starts_with"])
        assert text.endswith(expected["ends_with"])
