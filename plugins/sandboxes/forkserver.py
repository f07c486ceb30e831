"""The fork server as a sandbox: one long-lived process with the imports done, one confined fork a candidate."""

import itertools
import os
import sys
import warnings
from typing import Any

from ...core.component import ComponentOptions
from ...core.errors import SpeciateError
from ...core.sandbox import Level
from .launching import insist
from .link import Link, LocalLink
from .served import ServedSandbox

_FIRST_USER, _USERS = 60001, 4096
_SLOTS = itertools.count()
_STRONG = ("landlock", "seccomp")


class ForkServer(ServedSandbox):
    """Forks each candidate from a process that has done the imports, and confines it by Landlock, seccomp and more."""

    class Options(ComponentOptions, use_attribute_docstrings=True):
        """How strongly candidates are to be contained."""

        require: Level = "none"
        """Refuse to start when the containment that this machine gives is weaker than this."""
        namespaces: bool = True
        """Use private network, process, IPC and mount namespaces with a scratch folder, where the kernel gives them."""

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._slot = next(_SLOTS)

    def _launch(self) -> Link:
        """Start the process that will be the server. Raises SpeciateError where it cannot work."""
        if sys.platform != "linux":
            raise SpeciateError(
                f"the fork server needs Linux, and this is {sys.platform}; "
                "use the sandbox 'docker', or 'process', which is weak"
            )
        return LocalLink()

    def _ways(self) -> tuple[dict[str, Any], ...]:
        """Return what a server is told: to use namespaces, if they are wanted and can be had."""
        # Every slot of every engine has a user of its own, as far as there are enough of them.
        user = _FIRST_USER + (os.getpid() * 16 + self._slot) % _USERS
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        told = {"user": user if root else None, "scratch": None}
        wanted = (True, False) if self.options.namespaces else (False,)
        return tuple({**told, "namespaces": namespaces} for namespaces in wanted)

    def _judge(self) -> None:
        """Say how strong the containment is, and refuse or warn when it is weak."""
        missing = ", ".join(name for name in _STRONG if not self.layers.get(name))
        self.level = "basic" if missing else "strong"
        if missing:
            insist(self.options.require, self.level, f"it has no {missing}")
            self.warning = f"candidates are contained weakly, without {missing}: run no program you do not trust"
            warnings.warn(self.warning, RuntimeWarning, stacklevel=3)
