"""The fork server inside one long-lived container, for machines where a container engine is at hand."""

import contextlib
import importlib
import io
import os
import sys
import tarfile
from typing import Any

from pydantic import Field

from ...core.component import ComponentOptions
from ...core.errors import SpeciateError
from ...core.sandbox import Level
from .docker_link import DockerLink
from .docker_probe import PROBE, read_probe
from .launching import APART, BOOTSTRAP, clean_environment, insist, shown_folders, withheld_packages
from .link import Link, Outage
from .served import ServedSandbox

docker: Any = importlib.import_module("docker")

_NOBODY = "65534:65534"
_TAG = "speciate-nothing:1"
_SERVER_BYTES = 256 << 20
_PROCESSES = 160
_PROBE_BYTES, _PROBE_PROCESSES = 64 << 20, 32


class DockerSandbox(ServedSandbox):
    """Runs the fork server in a container without network, read-only, with hard limits on memory and processes."""

    class Options(ComponentOptions, use_attribute_docstrings=True):
        """Which container, and how strongly candidates are to be contained."""

        require: Level = "none"
        """Refuse to start when the containment that the engine gives is weaker than this."""
        image: str | None = None
        """An image with `python3` and the modules to preload; without one, this machine's Python is shown read-only."""
        cpus: float = Field(default=1.0, gt=0)
        """How many processor cores the container may use."""

    options: Options

    def _launch(self) -> Link:
        """Create a container, attach to it and start it."""
        try:
            self._client = docker.from_env()
            image = self.options.image or _nothing(self._client)
            if not hasattr(self, "_probed"):
                self._probed = self._probe(image)
            limits = self._workspace.limits
            memory = limits.memory_bytes + limits.scratch_bytes + _SERVER_BYTES
            command = [self._python(), *APART, "-c", BOOTSTRAP]
            return DockerLink(
                self._client.api, **self._container(image, command, memory, _PROCESSES, limits.scratch_bytes)
            )
        except docker.errors.DockerException as error:
            raise SpeciateError(f"no container can be started: {' '.join(str(error).split())[:400]}") from None
        except OSError as error:
            raise Outage(f"the container engine does not answer: {error}") from None

    def _ways(self) -> tuple[dict[str, Any], ...]:
        """Return what a server in a container is told: it is apart already, and has a folder to write to."""
        scratch = self._scratch() if self._workspace.limits.scratch_bytes else None
        return ({"namespaces": False, "user": None, "scratch": scratch},)

    def _judge(self) -> None:
        """Say how strong the containment is: as strong as what the engine was seen to enforce."""
        del self.layers["namespaces"], self.layers["read-only mounts"]
        self.layers |= self._probed
        ignored = ", ".join(name for name, held in self._probed.items() if not held)
        self.level = "basic" if ignored else "strong"
        if ignored:
            self.warning = f"the container engine does not enforce: {ignored}"
            insist(self.options.require, self.level, self.warning)

    def _probe(self, image: str) -> dict[str, bool]:
        """Start a small container that tries its limits, because some engines ignore them and say nothing."""
        command = [self._python(), "-I", "-S", "-B", "-c", PROBE]
        link = DockerLink(
            self._client.api, **self._container(image, command, _PROBE_BYTES, _PROBE_PROCESSES, _PROBE_BYTES // 4)
        )
        try:
            return read_probe(link.read_to_end(60.0), _PROBE_PROCESSES)
        finally:
            link.close()

    def _python(self) -> str:
        return "python3" if self.options.image else sys.executable

    def _scratch(self) -> str:
        """Return where the folder for candidates lies in the container: where it hides nothing that is shown."""
        hides = not self.options.image and any(path.startswith("/tmp/") for path in shown_folders()[0])
        return "/scratch" if hides else "/tmp"

    def _container(
        self, image: str, command: list[str], memory: int, processes: int, scratch: int
    ) -> dict[str, dict[str, Any]]:
        """Return the arguments that make a container: its own and those of its surroundings."""
        mounts = [] if self.options.image else _own_python()
        surroundings = self._client.api.create_host_config(
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            mem_limit=memory,
            memswap_limit=memory,
            pids_limit=processes,
            nano_cpus=int(self.options.cpus * 1e9),
            ipc_mode="private",
            auto_remove=True,
            tmpfs={self._scratch(): f"size={max(scratch, 1 << 16)},nr_inodes=10000,mode=1777,noexec,nosuid,nodev"},
            mounts=mounts,
        )
        about = {
            "image": image,
            "command": command,
            "environment": clean_environment(),
            "user": _NOBODY,
            "working_dir": "/",
            "stdin_open": True,
            "host_config": surroundings,
            "labels": {"speciate": "sandbox", "speciate.engine": str(os.getpid())},
            "entrypoint": [],
        }
        return {"container": about}


def _nothing(client: Any) -> str:
    """Return the tag of an image with empty folders and links, made here when the engine has none."""
    with contextlib.suppress(docker.errors.ImageNotFound):
        client.images.get(_TAG)
        return _TAG
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name in ("proc", "sys", "dev", "tmp", "etc", "usr"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        for name in ("bin", "sbin", "lib", "lib64", "lib32"):
            if os.path.islink(f"/{name}"):
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
                tar.addfile(link)
    repository, _, tag = _TAG.partition(":")
    client.api.import_image_from_data(content.getvalue(), repository=repository, tag=tag)
    return _TAG


def _own_python() -> list[Any]:
    """Return what shows this machine's Python in a container, read-only, without the engine and what plugs into it."""
    mount = docker.types.Mount
    shown, import_path = shown_folders()
    mounts = [mount(path, path, type="bind", read_only=True) for path in shown]
    if os.path.realpath(sys.prefix) != sys.prefix:
        mounts.append(mount(sys.prefix, os.path.realpath(sys.prefix), type="bind", read_only=True))
    if os.path.exists("/etc/ld.so.cache"):
        mounts.append(mount("/etc/ld.so.cache", "/etc/ld.so.cache", type="bind", read_only=True))
    withheld = withheld_packages()
    for folder in import_path:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name.lower() in withheld and os.path.isdir(path) and not os.path.islink(path):
                mounts.append(mount(path, None, type="tmpfs", tmpfs_size=1 << 16, read_only=True))
    return mounts
