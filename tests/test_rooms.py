"""The rules of the house: who may import whom, what core may know, which words are ours."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from speciate.core.registry import PATH_SLOTS, Registry
from speciate.plugins import builtin

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("core", "islands", "plugins", "problems")
MAY_IMPORT = {
    "core": {"core"},
    "islands": {"core", "islands"},
    "plugins": {"core", "islands", "plugins"},
    "problems": {"core"},
}
MODULES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def package_of(path: Path) -> tuple[str, ...]:
    return ("speciate", *path.relative_to(ROOT).parent.parts)


def imports(path: Path) -> Iterator[str]:
    """Yield the absolute name of everything that a module imports, at its top, in a function or for types only."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = package_of(path)
            base = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that are no docstrings, with their lines."""
    tree = ast.parse(path.read_bytes())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def identifiers(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every name that a module defines: classes, functions, arguments, variables, attributes."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    own = ".".join(package_of(path)) if room == "problems" else None
    for imported in imports(path):
        top, _, rest = imported.partition(".")
        assert top not in ROOMS, f"`{imported}` works by accident from the root; say `from ..{imported} import …`"
        if top != "speciate" or (own and own != "speciate.problems" and imported.startswith(f"{own}.")):
            continue
        assert rest.partition(".")[0] in MAY_IMPORT[room], f"{room} may not import {imported}"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_begins_with_a_sentence(path: Path) -> None:
    doc = ast.get_docstring(ast.parse(path.read_bytes()))
    assert doc, "say in one plain sentence what lives here"
    assert re.search(r"[.:?]$", doc.partition("\n\n")[0]), f"not a sentence: {doc.partition(chr(10))[0]!r}"


ORDINARY = {"best", "default", "diff", "docker", "full", "local", "none", "novelty", "process", "seeds", "uniform"}
"""Names of components that are ordinary words, too; core says `default` of whatever preset has that name."""


def test_core_knows_no_plugin_by_name() -> None:
    registry = Registry()
    builtin.register(registry)
    entries = [registry.entry(slot, name) for slot in registry.slots() for name in registry.names(slot)]
    names = {entry.name for entry in entries} - ORDINARY
    classes = {str(entry.target).rpartition(":")[2] for entry in entries if entry.slot not in PATH_SLOTS}
    known = []
    for path in MODULES:
        if path.relative_to(ROOT).parts[0] != "core":
            continue
        for line, text in strings(path):
            if text in names | classes or re.search(r"\b(?:plugins|islands|problems)\.\w", text):
                known.append(f"{name(path)}:{line}: {text!r}")
    # In a bare clone no entry point leads to the built-in plugin, so one module knows its door.
    doors = [entry for entry in known if entry.startswith("core/loading.py") and "plugins.builtin" in entry]
    assert len(doors) == 1
    assert [entry for entry in known if entry not in doors] == []


SYNONYMS = {
    "individual": r"organism|specimen|genome|chromosome|genotype|phenotype|creature",
    "island": r"deme|subpopulation|colony|tribe",
    "offspring": r"descendant|progeny|spawn",
    "operator": r"mutator|variator|breeder",
    "verdict": r"ruling|judgement|judgment",
    "objective": r"goodness|desirability",
    "archive": r"hall_of_fame|halloffame|elite_pool|gene_pool",
    "program": r"codebase|snippet",
    "oracle": r"ground_truth|groundtruth|referee",
    "counterexample": r"counter_example",
    "policy": r"llm|language_model",
    "inspirations": r"exemplars|few_shot",
    "guidance": r"prompt_template",
}
"""Words that others use, by the word that we use."""


@pytest.mark.parametrize("path", [path for path in MODULES if "problems" not in path.parts], ids=name)
def test_one_thing_has_one_word(path: Path) -> None:
    for line, identifier in identifiers(path):
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", identifier).lower()
        for ours, theirs in SYNONYMS.items():
            found = re.search(rf"(?:^|_)(?:{theirs})s?(?:_|$)", words)
            assert not found, f"{name(path)}:{line}: {identifier} says {found and found[0]!r}; our word is {ours!r}"


def pyproject() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_every_package_is_listed_for_the_wheel() -> None:
    listed = pyproject()["tool"]["setuptools"]["packages"]  # type: ignore[index]
    folders = {".".join(package_of(path)) for path in MODULES}
    assert sorted(listed) == sorted({"speciate", *folders})


def test_every_file_that_is_no_module_is_shipped() -> None:
    patterns = pyproject()["tool"]["setuptools"]["package-data"]["*"]  # type: ignore[index]
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                assert any(path.match(pattern) for pattern in patterns), f"{name(path)} would not be in the wheel"


def test_the_root_holds_no_other_module() -> None:
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]


def output_of(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT / "tests", capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PREAMBLE = f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); import conftest, speciate\n"


def test_the_face_of_the_package_loads_nothing() -> None:
    script = PREAMBLE + "print(sorted(m for m in sys.modules if m.startswith('speciate.')))"
    assert output_of(script) == "[]"


EXTRAS = {"docker", "sentence_transformers"}
"""What only an extra brings: a module that needs it cannot be loaded without."""


def test_no_module_is_loaded_under_two_names() -> None:
    modules = [".".join([*package_of(path), *([] if path.stem == "__init__" else [path.stem])]) for path in MODULES]
    modules = [module for module in modules if not module.startswith("speciate.problems.")]
    script = f"""
import importlib
for module in {modules!r}:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        assert error.name in {EXTRAS!r}, error
files = [getattr(module, "__file__", None) or "" for module in sys.modules.values()]
rooms = tuple({str(ROOT)!r} + "/" + room + "/" for room in {ROOMS!r})
print(sorted(f for f in files if f.startswith(rooms) and files.count(f) > 1))
"""
    assert output_of(PREAMBLE + script) == "[]"


def test_no_module_of_ours_was_loaded_twice_by_the_tests() -> None:
    names: dict[str, list[str]] = {}
    for module_name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and Path(file).is_relative_to(ROOT) and Path(file).relative_to(ROOT).parts[0] in ROOMS:
            names.setdefault(file, []).append(module_name)
    assert {file: found for file, found in names.items() if len(found) > 1} == {}
