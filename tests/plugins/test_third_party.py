"""A plugin of somebody else: installed beside speciate, it is there, with no edit of ours."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "tests" / "third_party_plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the plugin into a folder of its own."""
    folder = tmp_path_factory.mktemp("third_party")
    source = folder / "source"
    shutil.copytree(PLUGIN, source, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, "--target", str(folder / "site"), str(source)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"pip cannot install a package here: {' '.join(done.stderr.split())[-300:]}")
    return folder / "site"


def python(installed: Path, script: str) -> subprocess.CompletedProcess[str]:
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); import conftest\n{script}"
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_its_selector_is_found_by_its_entry_point(installed: Path) -> None:
    script = (
        "import json; from speciate.core.loading import Plugins; plugins = Plugins.installed()\n"
        "info = plugins.registry.describe('selector', 'third-party-tournament')\n"
        "print(json.dumps([info.summary, str(info.owner), [o.name for o in info.options], plugins.skipped]))"
    )
    done = python(installed, script)
    assert done.returncode == 0, done.stderr
    summary, owner, options, skipped = json.loads(done.stdout)
    assert summary == "The fittest of a few that are drawn at random."
    assert owner == "tournament of speciate-tournament 0.1.0"
    assert options == ["size"]
    assert skipped == {}


def test_a_configuration_may_choose_it(installed: Path) -> None:
    script = (
        "from speciate.core.loading import Plugins; from speciate.core.config import resolve\n"
        "print(resolve(Plugins.installed(), settings=['selector=third-party-tournament', 'selector.size=5']).selector)"
    )
    done = python(installed, script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "{'use': 'third-party-tournament', 'size': 5}"


def test_without_it_its_name_is_unknown(tmp_path: Path) -> None:
    script = (
        "from speciate.core.loading import Plugins; from speciate.core.config import resolve\n"
        "resolve(Plugins.installed(), settings=['selector=third-party-tournament'])"
    )
    done = python(tmp_path, script)
    assert "no selector named 'third-party-tournament'" in done.stderr
