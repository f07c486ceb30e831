"""Runs in a process of its own: loads one judge (an evaluator or an oracle) and answers over a pipe.

Stand-alone: started with an empty environment, it imports nothing of the engine. Requests and answers are JSON texts
behind four bytes of length, on descriptors that were standard input and output; what the judge prints goes elsewhere.
"""

import contextlib
import importlib.util
import inspect
import io
import json
import os
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _plain_number(value: Any) -> float | str:
    """Return a metric as a float, or the sentence that says why it is none."""
    if isinstance(value, (bool, str, bytes)) or value is None:
        return f"is {value!r}, expected a number"
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return f"is {value!r:.80}, expected a number"


def _numbers(mapping: Any, what: str) -> dict[str, float]:
    if not hasattr(mapping, "items"):
        raise TypeError(f"{what} must be a mapping from name to number, not {type(mapping).__name__}")
    numbers = {}
    for name, value in mapping.items():
        number = _plain_number(value)
        if isinstance(number, str):
            raise TypeError(f"{what} {name!r} {number}")
        numbers[str(name)] = number
    return numbers


def _accepted(function: Callable[..., Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return options
    names = {p.name for p in parameters}
    return {name: value for name, value in options.items() if name in names}


def _evaluate(module: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        output = json.loads(request["text"], object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        wrong = f"the output cannot be read as JSON: {error}"
        return {"metrics": {}, "instances": None, "feedback": wrong, "valid": False}
    answer = module.evaluate(output, **_accepted(module.evaluate, request["options"]))
    if not isinstance(answer, dict) or "metrics" not in answer:
        raise TypeError(f"evaluate returned {answer!r:.80}, expected a dict with 'metrics'")
    instances = answer.get("instances")
    feedback = answer.get("feedback")
    return {
        "metrics": _numbers(answer["metrics"], "metric"),
        "instances": None if instances is None else _numbers(instances, "instance score"),
        "feedback": None if feedback is None else str(feedback)[:16384],
        "valid": bool(answer.get("valid", True)),
    }


def _judge(module: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    answer = module.judge(request["text"], **_accepted(module.judge, request["options"]))
    if not isinstance(answer, dict) or not isinstance(answer.get("valid"), bool):
        raise TypeError(f"judge returned {answer!r:.80}, expected a dict with a bool 'valid'")
    score = answer.get("score")
    return {
        "valid": answer["valid"],
        "score": None if score is None else float(score),
        "score_exact": None if answer.get("score_exact") is None else str(answer["score_exact"]),
        "reason": None if answer.get("reason") is None else str(answer["reason"])[:4096],
    }


def _answer(module: Any, kind: str, request: Mapping[str, Any]) -> dict[str, Any]:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            answer = (_evaluate if kind == "evaluate" else _judge)(module, request)
    except (OSError, EOFError) as error:
        answer = {"outage": f"{type(error).__name__}: {error}"}
    except BaseException as error:  # noqa: BLE001 the judge's own fault becomes data, whatever it is
        answer = {"error": f"{type(error).__name__}: {error}"[:4096]}
    answer["printed"] = printed.getvalue()[:4096]
    return answer


def main() -> None:
    kind, path = sys.argv[1:3]
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)

    def send(content: Mapping[str, Any]) -> None:
        raw = json.dumps(content).encode("utf-8", "backslashreplace")
        answers.write(struct.pack(">I", len(raw)) + raw)
        answers.flush()

    sys.path.insert(0, os.path.dirname(path))
    try:
        spec = importlib.util.spec_from_file_location("_judge", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if not callable(getattr(module, kind, None)):
            raise AttributeError(f"it defines no function {kind!r}")
    except BaseException as error:  # noqa: BLE001 whatever the module does when loaded is told as data
        send({"error": f"{type(error).__name__}: {error}"[:4096]})
        return
    send({"ready": True})
    while header := requests.read(4):
        size = struct.unpack(">I", header)[0]
        send(_answer(module, kind, json.loads(requests.read(size))))


if __name__ == "__main__":
    main()
