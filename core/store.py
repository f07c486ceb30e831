"""Reads and writes the records of a run: the only module that speaks SQL about them."""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sqlite_utils

from .evaluation import Cost, Evaluation, EvaluationName, Status, Verdict
from .program import Program
from .records import Individual, Material, Message, Reason, Refusal, Selection, Usage
from .slots import Move, Reply, Reset, Vector


@dataclass(frozen=True, slots=True)
class Birth:
    """A committed ticket, as it is folded into the population: the same record live and read back.

    `operator` is the operator's own account of what it did; `content` names program and input up to formatting;
    what belongs to an evaluated program is None for a refused ticket. `valid` and `oracle_score` are the oracle's.
    """

    selection: Selection
    operator: str
    refusal: Refusal | None
    content: bytes | None
    usage: Usage
    replies: tuple[str, ...] = ()
    individual: Individual | None = None
    metrics: Mapping[str, float] | None = None
    length: int = 0
    valid: bool | None = None
    oracle_score: float | None = None
    gain: float | None = None
    output: str | None = None
    scope: str | None = None
    structure: bytes | None = None
    vector: Vector | None = None
    instances: tuple[float, ...] | None = None


class Store:
    """The history of one run: append-only, one writer, every committed ticket one transaction."""

    def __init__(self, db: sqlite_utils.Database) -> None:
        self.db = db
        self._run = db.conn.execute
        self.program = lru_cache(maxsize=2048)(self._program)
        self.output = lru_cache(maxsize=512)(self._output)
        self.material = lru_cache(maxsize=2048)(self._material)

    # Settings and events

    def meta(self, key: str) -> str | None:
        """Return one of the run's own settings, or None."""
        row = self._run("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        """Set one of the run's own settings."""
        self._run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def event(self, type: str, payload: Mapping[str, Any], ticket: int | None = None) -> None:
        """Append an event that is not a ticket."""
        self._run(
            "INSERT INTO events (ticket, type, payload, at) VALUES (?, ?, ?, ?)",
            (ticket, type, json.dumps(payload, ensure_ascii=False), time.time()),
        )

    def events(self, type: str) -> list[tuple[float, dict[str, Any]]]:
        """Return (clock time, payload) of all events of a type, oldest first."""
        rows = self._run("SELECT at, payload FROM events WHERE type = ? ORDER BY seq", (type,))
        return [(row[0], json.loads(row[1])) for row in rows]

    def last_sign_of_life(self) -> float:
        """Return the clock time of the last thing written: an event or a finished evaluation."""
        row = self._run(
            """SELECT max(coalesce((SELECT max(at) FROM events), 0),
                          coalesce((SELECT max(finished_at) FROM evaluations), 0))"""
        ).fetchone()
        return float(row[0])

    # Evaluations: on disk before they count

    def record_evaluation(self, program: Program, evaluation: Evaluation, output: str | None) -> None:
        """Write a finished evaluation, its program and its output. The first record of a name stands."""
        name, cost, verdict = evaluation.name, evaluation.cost, evaluation.verdict
        with _Transaction(self.db.conn):
            self._insert_program(program)
            if output is not None and evaluation.output is not None:
                self._run("INSERT OR IGNORE INTO artefacts VALUES (?, 'output', ?)", (evaluation.output, output))
            self._run(
                f"INSERT OR IGNORE INTO evaluations VALUES ({', '.join('?' * 22)})",
                (
                    name.hash, name.program, name.input, name.effort, name.seed, name.repeat, name.evaluator,
                    evaluation.status.value, evaluation.reason, _json(evaluation.metrics), evaluation.feedback,
                    None if evaluation.instances is None else _json(evaluation.instances),
                    None if verdict is None else int(verdict.valid), verdict and verdict.score,
                    verdict and verdict.score_exact, verdict and verdict.reason, evaluation.output,
                    cost.wall_s, cost.cpu_s, cost.max_rss_bytes, _text(evaluation.stdout), time.time(),
                ),
            )  # fmt: skip

    def evaluation(self, name: str) -> Evaluation | None:
        """Return a recorded evaluation by the hash of its name, or None."""
        row = self._run("SELECT * FROM evaluations WHERE name = ?", (name,)).fetchone()
        return None if row is None else _evaluation(row)

    # Tickets: one transaction each

    def commit(
        self,
        birth: Birth,
        digest: bytes,
        kept: bool,
        moves: tuple[Move | Reset, ...],
        cost: Cost,
        record: Mapping[str, Any] | None,
    ) -> None:
        """Write a committed ticket with all that belongs to it; `record` is what to note when it is the new best."""
        selection, individual, usage = birth.selection, birth.individual, birth.usage
        ticket = selection.ticket
        with _Transaction(self.db.conn):
            self._run(
                f"INSERT INTO tickets VALUES ({', '.join('?' * 15)})",
                (
                    ticket, selection.island, selection.parent, json.dumps(selection.inspirations), birth.operator,
                    selection.operator, _json(selection.plan), individual and individual.program,
                    individual and individual.input, birth.content, individual and individual.evaluation,
                    birth.refusal and birth.refusal.reason.value, birth.refusal and _text(birth.refusal.detail),
                    json.dumps(birth.replies), digest,
                ),
            )  # fmt: skip
            if individual is not None:
                self._insert_individual(birth, individual, kept)
            self._insert_moves(ticket, moves)
            if record is not None:
                self.event("record_broken", record, ticket)
            if individual is not None:
                self._run(
                    "INSERT INTO costs VALUES (?, 'candidate', 1, 0, 0, 0, 0, ?, ?)", (ticket, cost.wall_s, cost.cpu_s)
                )
            if usage.model_calls:
                self._run(
                    "INSERT INTO costs VALUES (?, 'proposer', 0, ?, ?, ?, ?, 0, 0)",
                    (ticket, usage.model_calls, usage.prompt_tokens, usage.completion_tokens, usage.money),
                )

    def births(self) -> Iterator[Birth]:
        """Read every committed ticket back, in ticket order."""
        rows = self._run(
            """SELECT t.ticket, t.island, t.parent, t.inspirations, t.operator, t.chosen, t.plan, t.input, t.content,
                      t.evaluation, t.refusal, t.detail, t.replies, t.program, i.operator, i.generation,
                      i.fitness, i.novelty, i.length, i.gain, e.metrics, e.instances, e.valid, e.oracle_score, e.output,
                      m.scope, m.structure, m.indices, m.vals,
                      c.model_calls, c.prompt_tokens, c.completion_tokens, c.money
               FROM tickets t LEFT JOIN individuals i ON i.id = t.ticket
               LEFT JOIN evaluations e ON e.name = t.evaluation LEFT JOIN embeddings m ON m.individual = t.ticket
               LEFT JOIN costs c ON c.ticket = t.ticket AND c.role = 'proposer' ORDER BY t.ticket"""
        )
        for row in rows:
            yield _birth(row)

    def parents(self, first: int) -> Iterator[tuple[int, int | None]]:
        """Read (island, parent) of every committed ticket from `first` on, in ticket order."""
        yield from self._run("SELECT island, parent FROM tickets WHERE ticket >= ? ORDER BY ticket", (first,))

    def decided(self, ticket: int) -> tuple[bool, tuple[Move | Reset, ...], bytes]:
        """Return whether a ticket's individual was kept, who travelled after it, and the digest stored with it."""
        row = self._run(
            "SELECT coalesce(i.kept, 0), t.digest FROM tickets t LEFT JOIN individuals i ON i.id = t.ticket "
            "WHERE t.ticket = ?",
            (ticket,),
        ).fetchone()
        return bool(row[0]), self._moves(ticket), bytes(row[1])

    def last_ticket(self) -> int:
        """Return the number of the last committed ticket; -1 before the first."""
        return int(self._run("SELECT coalesce(max(ticket), -1) FROM tickets").fetchone()[0])

    def last_digest(self) -> bytes | None:
        """Return the chained digest after the last committed ticket, or None before the first."""
        row = self._run("SELECT digest FROM tickets ORDER BY ticket DESC LIMIT 1").fetchone()
        return None if row is None else bytes(row[0])

    def refusal(self, ticket: int) -> str | None:
        """Return why a ticket was refused, or None."""
        row = self._run("SELECT refusal || ': ' || detail FROM tickets WHERE ticket = ?", (ticket,)).fetchone()
        return None if row is None else row[0]

    def counts(self) -> dict[str, Any]:
        """Count evaluations, by status, and refusals, by reason."""
        by_status = self._run(
            "SELECT e.status, count(*) FROM individuals i JOIN evaluations e ON e.name = i.evaluation GROUP BY 1"
        )
        refused = self._run("SELECT refusal, count(*) FROM tickets WHERE refusal IS NOT NULL GROUP BY 1")
        statuses = dict(by_status.fetchall())
        return {"evaluations": sum(statuses.values()), "statuses": statuses, "refused": dict(refused.fetchall())}

    def costs(self) -> list[dict[str, Any]]:
        """Add up what committed tickets cost, by role; one unknown price makes a role's money None."""
        rows = self._run(
            """SELECT role, sum(evaluations), sum(model_calls), sum(prompt_tokens), sum(completion_tokens),
                      CASE WHEN count(*) = count(money) THEN sum(money) END, sum(wall_s), sum(cpu_s)
               FROM costs GROUP BY role ORDER BY role"""
        )
        names = ("role", "evaluations", "model_calls", "prompt_tokens", "completion_tokens", "money", "wall_s", "cpu_s")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def timings(self) -> dict[int, tuple[float, float]]:
        """Return (CPU seconds of the candidate, clock time when it had ended) of every evaluated ticket."""
        rows = self._run(
            """SELECT i.id, coalesce(c.cpu_s, 0), e.finished_at FROM individuals i
               JOIN evaluations e ON e.name = i.evaluation
               LEFT JOIN costs c ON c.ticket = i.id AND c.role = 'candidate'"""
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    # Requests and replies

    def record_request(
        self,
        request: str,
        draws: Sequence[int],
        ticket: int,
        role: str,
        messages: Sequence[Message],
        settings: Mapping[str, Any],
    ) -> None:
        """Log a request before it is sent; sending it again is counted."""
        said = json.dumps([[m.role, m.content] for m in messages], ensure_ascii=False)
        rows = [(request, draw, ticket, role, _text(said), _json(settings)) for draw in draws]
        with _Transaction(self.db.conn):
            self.db.conn.executemany(
                """INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, 1)
                   ON CONFLICT DO UPDATE SET times_sent = times_sent + 1""",
                rows,
            )

    def record_replies(self, request: str, draws: Sequence[int], policy: str, replies: Sequence[Reply]) -> None:
        """Write replies before they are used."""
        rows = [
            (
                request, draw, policy, _text(reply.text), reply.finish_reason, reply.usage.prompt_tokens,
                reply.usage.completion_tokens, reply.usage.money,
                None if reply.logprobs is None else json.dumps(reply.logprobs),
                None if reply.tokens is None else json.dumps(reply.tokens),
            )
            for draw, reply in zip(draws, replies, strict=True)
        ]  # fmt: skip
        with _Transaction(self.db.conn):
            self.db.conn.executemany(f"INSERT OR IGNORE INTO replies VALUES ({', '.join('?' * 10)})", rows)

    def reply(self, request: str, draw: int) -> Reply | None:
        """Return the recorded reply to one draw of a request, or None."""
        row = self._run(
            """SELECT text, finish_reason, prompt_tokens, completion_tokens, money, logprobs, tokens
               FROM replies WHERE request = ? AND draw = ?""",
            (request, draw),
        ).fetchone()
        if row is None:
            return None
        return Reply(
            row[0],
            row[1],
            Usage(1, row[2], row[3], row[4]),
            None if row[5] is None else tuple(json.loads(row[5])),
            None if row[6] is None else tuple(json.loads(row[6])),
        )

    def possibly_paid(self) -> int:
        """Count requests that were sent and have no reply: they may have been paid for."""
        row = self._run(
            """SELECT coalesce(sum(r.times_sent - (p.draw IS NOT NULL)), 0) FROM requests r
               LEFT JOIN replies p ON p.request = r.request AND p.draw = r.draw"""
        ).fetchone()
        return int(row[0])

    # Individuals

    def individual(self, id: int) -> Individual | None:
        """Return an individual, or None when no ticket of that number was evaluated."""
        row = self._run(
            """SELECT i.id, i.program, i.island, i.parent, t.inspirations, i.input, i.operator, i.generation,
                      i.evaluation, i.fitness, i.novelty
               FROM individuals i JOIN tickets t ON t.ticket = i.id WHERE i.id = ?""",
            (id,),
        ).fetchone()
        if row is None:
            return None
        id, program, island, parent, inspirations, *rest = row
        return Individual(id, program, island, parent, tuple(json.loads(inspirations)), *rest)

    def best_id(self) -> int | None:
        """Return the id of the best individual that no oracle rejected; of equals, the oldest."""
        row = self._run(
            """SELECT i.id FROM individuals i JOIN evaluations e ON e.name = i.evaluation
               WHERE i.fitness IS NOT NULL AND coalesce(e.valid, 1) ORDER BY i.fitness DESC, i.id LIMIT 1"""
        ).fetchone()
        return None if row is None else int(row[0])

    def _material(self, id: int) -> Material:
        individual = self.individual(id)
        if individual is None:
            raise KeyError(id)
        evaluation = self.evaluation(individual.evaluation)
        assert evaluation is not None  # written before the individual
        (gain,) = self._run("SELECT gain FROM individuals WHERE id = ?", (id,)).fetchone()
        return Material(individual, self.program(individual.program), evaluation, gain)

    def _program(self, hash: str) -> Program:
        row = self._run("SELECT kind, files FROM programs WHERE hash = ?", (hash,)).fetchone()
        if row is None:
            raise KeyError(hash)
        return Program.of(json.loads(row[1]), row[0])

    def _output(self, hash: str) -> str:
        row = self._run("SELECT content FROM artefacts WHERE hash = ?", (hash,)).fetchone()
        if row is None:
            raise KeyError(hash)
        return str(row[0])

    # Writing

    def _insert_program(self, program: Program) -> None:
        files = json.dumps(dict(program.files), ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
        self._run("INSERT OR IGNORE INTO programs VALUES (?, ?, ?)", (program.hash, program.kind, files))

    def _insert_individual(self, birth: Birth, individual: Individual, kept: bool) -> None:
        self._run(
            f"INSERT INTO individuals VALUES ({', '.join('?' * 13)})",
            (
                individual.id, individual.program, individual.island, individual.parent, individual.input,
                individual.operator, individual.generation, individual.evaluation, individual.fitness,
                individual.novelty, birth.length, int(kept), birth.gain,
            ),
        )  # fmt: skip
        if birth.vector is not None:
            self._run(
                "INSERT INTO embeddings VALUES (?, ?, ?, ?, ?)",
                (
                    individual.id, birth.scope, birth.structure,
                    birth.vector.indices.astype("<i4").tobytes(), birth.vector.values.astype("<f4").tobytes(),
                ),
            )  # fmt: skip

    def _moves(self, ticket: int) -> tuple[Move | Reset, ...]:
        moves: list[Move | Reset] = []
        founders: dict[int, list[int]] = {}
        rows = self._run("SELECT kind, individual, source, target FROM moves WHERE ticket = ? ORDER BY seq", (ticket,))
        for kind, individual, source, target in rows:
            if kind == "move":
                moves.append(Move(individual, source, target))
            elif target in founders:
                founders[target].append(individual)
            else:
                founders[target] = [individual]
                moves.append(Reset(target, ()))
        return tuple(Reset(m.island, tuple(founders[m.island])) if isinstance(m, Reset) else m for m in moves)

    def _insert_moves(self, ticket: int, moves: tuple[Move | Reset, ...]) -> None:
        for move in moves:
            rows: list[tuple[int, str, int, int | None, int]]
            if isinstance(move, Move):
                rows = [(ticket, "move", move.individual, move.source, move.target)]
            else:
                rows = [(ticket, "reset", founder, None, move.island) for founder in move.founders]
            self.db.conn.executemany(
                "INSERT INTO moves (ticket, kind, individual, source, target) VALUES (?, ?, ?, ?, ?)", rows
            )


def instance_scores(instances: Mapping[str, float]) -> tuple[float, ...]:
    """Return scores by instance in the order of the instances' names."""
    return tuple(instances[name] for name in sorted(instances))


class _Transaction:
    """One transaction on a connection in autocommit mode."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __enter__(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *rest: object) -> None:
        self.connection.execute("COMMIT" if kind is None else "ROLLBACK")


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(dict(data), ensure_ascii=False, separators=(",", ":"))


def _text(text: str) -> str:
    """Make any text storable: lone surrogates are written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _evaluation(row: tuple[Any, ...]) -> Evaluation:
    verdict = None if row[12] is None else Verdict(bool(row[12]), row[13], row[14], row[15])
    return Evaluation(
        name=EvaluationName(*row[1:7]),
        status=Status(row[7]),
        reason=row[8],
        metrics=json.loads(row[9]),
        feedback=row[10],
        instances=None if row[11] is None else json.loads(row[11]),
        verdict=verdict,
        output=row[16],
        cost=Cost(row[17], row[18], row[19]),
        stdout=row[20],
    )


def _birth(row: tuple[Any, ...]) -> Birth:
    (ticket, island, parent, inspirations, operator, chosen, plan, input, content, evaluation, refusal, detail,
     replies, program, _, generation, fitness, novelty, length, gain, metrics, instances, valid, oracle_score, output,
     scope, structure, indices, vals, calls, prompt_tokens, completion_tokens, money) = row  # fmt: skip
    inspired = () if inspirations == "[]" else tuple(json.loads(inspirations))
    selection = Selection(ticket, island, parent, inspired, chosen, {} if plan == "{}" else json.loads(plan))
    usage = Usage() if calls is None else Usage(calls, prompt_tokens, completion_tokens, money)
    answered = () if replies == "[]" else tuple(json.loads(replies))
    refused = None if refusal is None else Refusal(Reason(refusal), detail)
    if evaluation is None:
        return Birth(selection, operator, refused, content, usage, answered)
    individual = Individual(
        ticket, program, island, parent, inspired, input, operator, generation, evaluation, fitness, novelty
    )
    vector = None
    if indices is not None:
        vector = Vector(np.frombuffer(indices, "<i4"), np.frombuffer(vals, "<f4"))
    return Birth(
        selection, operator, refused, content, usage, answered, individual, json.loads(metrics), length,
        None if valid is None else bool(valid), oracle_score, gain, output, scope, structure, vector,
        None if instances is None else instance_scores(json.loads(instances)),
    )  # fmt: skip
