"""An embedder of text by an OpenAI-compatible endpoint."""

import importlib
import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ...core.component import ComponentOptions
from ...core.errors import ComponentError
from ...core.program import Program
from .text import TextEmbedder, chunks, evolving

openai: Any = importlib.import_module("openai")

FAULTS = (openai.OpenAIError, ValueError)
"""What a call may raise: the second when an answer holds no vector."""

KEPT = 4096
"""Chunks whose vectors are remembered."""


class OpenAIEmbedder(TextEmbedder):
    """Vectors of a model behind an OpenAI-compatible endpoint, asked for while other candidates go on.

    An address must be given: nothing is sent to a default one. What a server answers twice may differ in the last
    digits, so runs with it are repeatable as far as the server is.
    """

    class Options(TextEmbedder.Options):
        """Options of `openai`."""

        base_url: str = Field(description="The address of the endpoint, such as http://localhost:8000/v1.")
        model: str = Field(description="The model's name there.")
        dimension: int = Field(ge=1, description="How many numbers a vector of the model has.")
        key_variable: str | None = Field(default=None, description="The environment variable that holds the key.")
        retries: int = Field(default=3, ge=0, description="How often a request that failed is sent again.")
        timeout_s: float = Field(default=60.0, gt=0, description="Seconds until a request counts as failed.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self.dimension = self.options.dimension
        name = self.options.key_variable
        if name is not None and not os.environ.get(name):
            raise ComponentError(f"embedder openai: the environment variable {name} is not set")
        common = {
            "base_url": self.options.base_url,
            "api_key": os.environ[name] if name is not None else "none",
            "max_retries": self.options.retries,
            "timeout": self.options.timeout_s,
        }
        self._waiting, self._asking = openai.OpenAI(**common), openai.AsyncOpenAI(**common)
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    async def prepare(self, program: Program, main: str) -> None:
        """Ask for the vectors of a program's chunks, so that `embed` finds them."""
        unknown = [text for text in chunks(evolving(program), self.options.chunk) if text not in self._vectors]
        if not unknown:
            return
        try:
            answer = await self._asking.embeddings.create(model=self.options.model, input=unknown)
        except FAULTS as error:
            raise self._failure(error) from None
        self._keep(unknown, answer)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text, shape (n, dimension). Raises ComponentError when the endpoint fails."""
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        unknown = [text for text in dict.fromkeys(texts) if text not in known]
        if unknown:
            try:
                answer = self._waiting.embeddings.create(model=self.options.model, input=unknown)
            except FAULTS as error:
                raise self._failure(error) from None
            self._keep(unknown, answer)
            known |= {text: self._vectors[text] for text in unknown}
        return np.stack([known[text] for text in texts])

    def _keep(self, texts: Sequence[str], answer: Any) -> None:
        rows = [np.asarray(item.embedding, np.float32) for item in sorted(answer.data, key=lambda item: item.index)]
        if len(rows) != len(texts) or any(row.shape != (self.dimension,) for row in rows):
            found = sorted({row.shape for row in rows})
            raise ComponentError(
                f"embedder openai: {len(rows)} vectors of shapes {found} came for {len(texts)} texts; "
                f"expected ({self.dimension},), as embedder.dimension says"
            )
        self._vectors.update(zip(texts, rows, strict=True))
        while len(self._vectors) > KEPT + len(texts):
            self._vectors.popitem(last=False)

    def _failure(self, error: Exception) -> ComponentError:
        said = " ".join(str(error).split())[:300]
        return ComponentError(f"embedder openai: {self.options.base_url} did not embed: {said}")
