"""Runs one program in the process it is given and writes what came of it to a descriptor.

Stand-alone: the server sends this text to the process that holds the candidates, so it imports the standard library
only. What is written is data that the candidate could have written itself; whoever reads it trusts none of it.

A result is one byte and a body: `J` and JSON text; `N` and a line of JSON (`dtype`, `shape`) and the bytes of an array;
`E` and a line with a status and one sentence; `M` when memory ran out.
"""

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import linecache
import os
import random
import sys
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

_exit, _write = os._exit, os.write
_WITHOUT = "speciate"
_DTYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1")


class Withheld(importlib.abc.MetaPathFinder):
    """Says that the engine's own package does not exist."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Refuse the engine, know nothing of anything else."""
        if fullname.partition(".")[0] == _WITHOUT:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


class _Files(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the files of a program importable, from memory."""

    def __init__(self, files: Mapping[str, str], main: str) -> None:
        self._files = files
        self._main = main

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module among the files: a file, a package, or a folder without one."""
        stem = fullname.replace(".", "/")
        for file, package in ((f"{stem}.py", False), (f"{stem}/__init__.py", True)):
            if file in self._files:
                return importlib.util.spec_from_loader(fullname, self, origin=file, is_package=package)
        if any(file.startswith(f"{stem}/") for file in self._files):
            return importlib.util.spec_from_loader(fullname, self, is_package=True)
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module's text, if it has one."""
        assert module.__spec__ is not None
        file = module.__spec__.origin
        if file is not None:
            module.__file__ = file
            execute(self._files[file], file, module)


class _SeedNumpy(importlib.abc.MetaPathFinder):
    """Seeds numpy's global generator as soon as a candidate imports it."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Let others find `numpy.random`, and wrap its loader."""
        if fullname != "numpy.random":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute_module = spec.loader.exec_module

            def seeded(module: types.ModuleType) -> None:
                execute_module(module)
                module.seed(self._seed)

            spec.loader.exec_module = seeded  # type: ignore[method-assign]
        return spec


def execute(text: str, file: str, module: types.ModuleType) -> None:
    """Run a text as a module, so that tracebacks and `inspect` can show its lines."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)


def add_modules(modules: Mapping[str, str]) -> None:
    """Put texts into the interpreter as modules, in the order in which they need one another."""
    sys.meta_path.insert(0, _Files({f"{name.replace('.', '/')}.py": text for name, text in modules.items()}, ""))
    try:
        for name in modules:
            importlib.import_module(name)
    finally:
        del sys.meta_path[0]


def seed_everything(seed: int) -> None:
    """Seed the global generators of `random` and of numpy, now or when it is imported."""
    random.seed(seed)
    seed %= 1 << 32
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(seed)
    else:
        sys.meta_path.insert(0, _SeedNumpy(seed))


def plain(value: Any) -> Any:
    """Turn what JSON does not know into what it knows: arrays and their scalars, sets, exact numbers."""
    if hasattr(value, "tolist"):
        converted = value.tolist()
        # What numpy has no Python number for, it returns as it is.
        return float(converted) if type(converted) is type(value) else converted
    if isinstance(value, set | frozenset):
        return sorted(value)
    if not isinstance(value, complex) and hasattr(value, "__float__"):
        return float(value)
    raise TypeError(f"a {type(value).__name__} is not plain data")


def _with_plain_keys(value: Any) -> Any:
    """Turn keys that are numpy's numbers into Python's."""
    if isinstance(value, dict):
        return {k.item() if hasattr(k, "item") else k: _with_plain_keys(v) for k, v in value.items()}
    return [_with_plain_keys(v) for v in value] if isinstance(value, list | tuple) else value


def encode(value: Any) -> bytes:
    """Return a result as it is written. Raises TypeError or ValueError when it is not plain data."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray and value.dtype.str[1:] in _DTYPES and value.size:
        about = json.dumps({"dtype": value.dtype.newbyteorder("<").str, "shape": value.shape}).encode()
        body: bytes = value.astype(value.dtype.newbyteorder("<")).tobytes()
        return b"N" + about + b"\n" + body
    try:
        return b"J" + json.dumps(value, default=plain).encode("ascii")
    except TypeError:
        return b"J" + json.dumps(_with_plain_keys(value), default=plain).encode("ascii")


def arguments_for(function: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the offered arguments that a signature names; all for one that takes any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict(offered)
    return {p.name: offered[p.name] for p in parameters if p.name in offered}


def explain(error: BaseException, files: Mapping[str, str]) -> str:
    """Return an error in one line, with the program's own frames and no others."""
    text = " ".join(str(error).split())[:600]
    sentence = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
    if not frames:
        return sentence
    where = ", called from ".join(f"{f.filename} line {f.lineno} in {f.name}" for f in reversed(frames[-4:]))
    line = " ".join((frames[-1].line or "").split())[:160]
    return f"{sentence} ({where}{f': {line}' if line else ''})"


def load(files: Mapping[str, str], main: str) -> types.ModuleType:
    """Run the main file as a module of its own name; the other files can be imported."""
    sys.meta_path.insert(0, _Files(files, main))
    name = os.path.basename(main).partition(".")[0] or "program"
    module = types.ModuleType(name)
    module.__file__ = main
    sys.modules[name] = module
    execute(files[main], main, module)
    return module


def outcome_of(request: Mapping[str, Any]) -> bytes:
    """Run a program and return its result as it is written."""
    files = request["files"]
    try:
        seed_everything(request["seed"])
        module = load(files, request["main"])
        names = request["entries"]
        function = next((f for n in names if callable(f := getattr(module, n, None))), None)
        if function is None:
            return b"Ecrashed\n" + f"program defines no function {names[-1]!r}".encode()
        value = function(**arguments_for(function, request["arguments"]))
        try:
            return encode(value)
        except (TypeError, ValueError, RecursionError) as error:
            return b"Einvalid\n" + f"the returned value is not plain data: {error}".encode("utf-8", "backslashreplace")
    except MemoryError:
        return b"M"
    except BaseException as error:  # noqa: BLE001 whatever the candidate raises, SystemExit too, is its own outcome
        return b"Ecrashed\n" + explain(error, files).encode("utf-8", "backslashreplace")


def run_and_leave(request: Mapping[str, Any], result: int) -> NoReturn:
    """Run a program, write its result to a descriptor and end this process."""
    status = 1
    try:
        data = memoryview(outcome_of(request))
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
        while data:
            data = data[_write(result, data) :]
        status = 0
    finally:
        # No exit handler, no destructor, no thread of the candidate delays this.
        _exit(status)


def show_lines_at_once() -> None:
    """Write what is printed line by line, so that it is not lost when the program is killed."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, errors="backslashreplace", encoding="utf-8")


def settle() -> None:
    """Prepare the interpreter for candidates: no current folder on the path, and no engine."""
    sys.path[:] = [entry for entry in sys.path if entry]
    sys.meta_path.insert(0, Withheld())
