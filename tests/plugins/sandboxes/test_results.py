"""What a candidate wrote is read as data, whatever it is."""

import json

import numpy as np
import pytest
from boxes import LIMITS
from speciate.core.evaluation import Cost, RunResult, Status
from speciate.plugins.sandboxes.results import decode, run_result


def array(shape: object, dtype: object = "<f8", data: bytes = bytes(16)) -> bytes:
    return b"N" + json.dumps({"dtype": dtype, "shape": shape}).encode() + b"\n" + data


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i1", "i8", "u1", "u4"])
def test_an_array_is_read_with_every_digit(kind: str) -> None:
    values = np.array([[1, 2, 3], [4, 5, 6]], dtype=f"<{kind}") / np.array(3, dtype=f"<{kind}")
    values = values.astype(f"<{kind}")
    status, text, _ = decode(array([2, 3], values.dtype.str, values.tobytes()), LIMITS)
    assert status is Status.OK
    assert json.loads(text or "") == values.tolist()


@pytest.mark.parametrize(
    "written",
    [
        array([2, 2]),
        array([10**12]),
        array([0, 10**9], data=b""),
        array([10**9, 0], data=b""),
        array([2], dtype="|O"),
        array([1], dtype="|V16"),
        array([4], dtype="<U1"),
        array([2], dtype=["<f8"]),
        array([-2, -1]),
        array([2.0]),
        array([True, 2]),
        array("2"),
        array([1] * 40 + [2]),
        array(None),
        b"N",
        b"N[[[",
        b"N" + b"[" * 100_000,
        b"J",
        b"J{",
        b"J[1][2]",
        b"J\xff",
        b"J" + b"[" * 100_000 + b"]" * 100_000,
        b"J" + b"9" * 50_000,
        b"J" + b" " * (LIMITS.output_bytes + 1),
        b"Eok\nall went well",
        b"E",
        b"Ecrashed",
        b"\x80\x04\x95pickle",
        b"\x93NUMPY\x01\x00v\x00",
        b"PK\x03\x04",
        b"\x00" * 100,
    ],
)
def test_what_is_no_result_is_invalid_with_a_sentence(written: bytes) -> None:
    status, text, reason = decode(written, LIMITS)
    assert status is Status.INVALID
    assert text is None
    assert reason


def result_of(written: bytes, exit_code: int = 0, stopped: str | None = None, printed: bytes = b"") -> RunResult:
    return run_result(
        LIMITS, stopped=stopped, exit_code=exit_code, result=written, printed=printed, printed_more=False, cost=Cost()
    )


def test_a_result_counts_only_when_the_process_ended_well() -> None:
    assert result_of(b"J1").value == "1"
    for exit_code in (1, 111, -9, -11):
        assert result_of(b"J1", exit_code).status is Status.CRASHED
    assert result_of(b"J1", -9, "wall").status is Status.TIMEOUT
    assert result_of(b"J1", -9, "output").status is Status.INVALID


def test_a_reason_is_one_short_line_whatever_the_candidate_wrote() -> None:
    said = result_of(b"Ecrashed\n" + b"a\nb\r\n\x00\xff" * 100_000).reason or ""
    assert "\n" not in said
    assert len(said) <= 2000


def test_what_is_printed_is_text_whatever_it_was() -> None:
    assert result_of(b"J1", printed=b"\xff\xfe ok").stdout.endswith(" ok")


def test_json_that_is_not_finite_is_passed_on() -> None:
    assert decode(b"J[NaN, Infinity, -Infinity]", LIMITS)[0] is Status.OK
