"""The tables of a run's database, as migrations: entry i brings a database from version i to i + 1."""

MIGRATIONS = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

    -- Every program once, by content; files is a JSON object from path to text.
    CREATE TABLE programs (hash TEXT PRIMARY KEY, kind TEXT NOT NULL, files TEXT NOT NULL) WITHOUT ROWID;

    -- Every proposal, refused or not, in the order in which it was committed; digest chains over all before it.
    CREATE TABLE tickets (
        ticket INTEGER PRIMARY KEY, island INTEGER NOT NULL, parent INTEGER, inspirations TEXT NOT NULL,
        operator TEXT NOT NULL, chosen TEXT NOT NULL, plan TEXT NOT NULL, program TEXT, input INTEGER,
        content BLOB, evaluation TEXT, refusal TEXT, detail TEXT, replies TEXT NOT NULL, digest BLOB NOT NULL
    );

    -- Every program that was evaluated, as a member of the population; id is its ticket.
    CREATE TABLE individuals (
        id INTEGER PRIMARY KEY, program TEXT NOT NULL, island INTEGER NOT NULL, parent INTEGER, input INTEGER,
        operator TEXT NOT NULL, generation INTEGER NOT NULL, evaluation TEXT NOT NULL, fitness REAL,
        novelty REAL NOT NULL, length INTEGER NOT NULL, kept INTEGER NOT NULL, gain REAL
    );

    -- Every finished evaluation, written before it counts.
    CREATE TABLE evaluations (
        name TEXT PRIMARY KEY, program TEXT NOT NULL, input TEXT, effort INTEGER NOT NULL, seed INTEGER NOT NULL,
        repeat INTEGER NOT NULL, evaluator TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, metrics TEXT NOT NULL,
        feedback TEXT, instances TEXT, valid INTEGER, oracle_score REAL, score_exact TEXT, oracle_reason TEXT,
        output TEXT, wall_s REAL NOT NULL, cpu_s REAL NOT NULL, max_rss_bytes INTEGER NOT NULL, stdout TEXT NOT NULL,
        finished_at REAL NOT NULL
    ) WITHOUT ROWID;

    -- Outputs by content, as JSON text.
    CREATE TABLE artefacts (hash TEXT PRIMARY KEY, kind TEXT NOT NULL, content TEXT NOT NULL) WITHOUT ROWID;

    -- Novelty vectors: little-endian int32 indices and float32 values of unit length.
    CREATE TABLE embeddings (
        individual INTEGER PRIMARY KEY, scope TEXT NOT NULL, structure BLOB NOT NULL,
        indices BLOB NOT NULL, vals BLOB NOT NULL
    );

    -- Copies between islands and resets, in order.
    CREATE TABLE moves (
        seq INTEGER PRIMARY KEY, ticket INTEGER NOT NULL, kind TEXT NOT NULL, individual INTEGER NOT NULL,
        source INTEGER, target INTEGER NOT NULL
    );

    -- Requests to a policy, written before they are sent, and the replies, by request content and draw number.
    CREATE TABLE requests (
        request TEXT NOT NULL, draw INTEGER NOT NULL, ticket INTEGER NOT NULL, role TEXT NOT NULL,
        messages TEXT NOT NULL, settings TEXT NOT NULL, times_sent INTEGER NOT NULL,
        PRIMARY KEY (request, draw)
    ) WITHOUT ROWID;
    CREATE TABLE replies (
        request TEXT NOT NULL, draw INTEGER NOT NULL, policy TEXT NOT NULL, text TEXT NOT NULL, finish_reason TEXT,
        prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, money REAL, logprobs TEXT, tokens TEXT,
        PRIMARY KEY (request, draw)
    ) WITHOUT ROWID;

    -- What each committed ticket cost, by role; money is NULL when a price is not known.
    CREATE TABLE costs (
        ticket INTEGER NOT NULL, role TEXT NOT NULL, evaluations INTEGER NOT NULL, model_calls INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, money REAL,
        wall_s REAL NOT NULL, cpu_s REAL NOT NULL, PRIMARY KEY (ticket, role)
    ) WITHOUT ROWID;

    -- What happened that is not a ticket: starts, records, new budgets, ends.
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY, ticket INTEGER, type TEXT NOT NULL, payload TEXT NOT NULL, at REAL NOT NULL
    );

    CREATE VIEW leaderboard AS
        SELECT i.id, i.fitness, e.valid, e.oracle_score, i.operator, i.generation, i.parent, i.island, p.files
        FROM individuals i JOIN evaluations e ON e.name = i.evaluation JOIN programs p ON p.hash = i.program
        WHERE i.fitness IS NOT NULL ORDER BY i.fitness DESC, i.id;
    CREATE VIEW refusals AS
        SELECT ticket, island, parent, operator, refusal AS reason, detail FROM tickets WHERE refusal IS NOT NULL;
    """,
)
