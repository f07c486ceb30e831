"""Writes what a run found to files a person can use."""

import json
from pathlib import Path

from .best import input_chain
from .errors import SpeciateError
from .problem import Problem
from .program import Program
from .store import Store


def write_program(program: Program, path: Path) -> None:
    """Write a program: one file as `path`, several as a folder of that name. Raises SpeciateError."""
    try:
        if len(program.files) == 1:
            path.write_text(program.files[0][1], encoding="utf-8", errors="surrogateescape")
            return
        for name, text in program.files:
            target = path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise SpeciateError(f"the program cannot be written to {path}: {error.strerror}") from None


def write_output(output: str | None, path: Path) -> None:
    """Write an output as JSON. Raises SpeciateError."""
    try:
        path.write_text(output or "null", encoding="utf-8")
    except OSError as error:
        raise SpeciateError(f"the output cannot be written to {path}: {error.strerror}") from None


def write_picture(problem: Problem, output: str | None, path: Path) -> None:
    """Draw an output. Raises SpeciateError when the problem draws none or not in that format."""
    if output is None:
        raise SpeciateError("there is no output to draw")
    try:
        path.write_bytes(problem.draw(output, path.suffix))
    except OSError as error:
        raise SpeciateError(f"the picture cannot be written to {path}: {error.strerror}") from None


def write_chain(store: Store, id: int, folder: Path) -> None:
    """Write the programs that make a result, in order, with the seeds and the inputs that each was given."""
    steps = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, material in enumerate(input_chain(store, id)):
            name = f"{number:04d}"
            write_program(material.program, folder / f"{name}.py")
            evaluation = material.evaluation
            if evaluation.output is not None:
                (folder / f"{name}.output.json").write_text(store.output(evaluation.output), encoding="utf-8")
            steps.append(
                {
                    "id": material.individual.id,
                    "program": f"{name}.py",
                    "input": None if number == 0 else f"{number - 1:04d}.output.json",
                    "output": f"{name}.output.json",
                    "seed": evaluation.name.seed,
                    "effort": evaluation.name.effort,
                    "evaluator": evaluation.name.evaluator,
                }
            )
        (folder / "chain.json").write_text(json.dumps({"steps": steps}, indent=2), encoding="utf-8")
    except OSError as error:
        raise SpeciateError(f"the chain cannot be written to {folder}: {error.strerror}") from None
