-- The read model on Postgres: what the projections keep for SQL, and the views of the contract.
--
-- All of it can be dropped and computed again from the log. Rows that grow while a message is open are kept as pieces
-- and chunks, joined by the views: a growing value is never rewritten.

CREATE TABLE rm_runs (
    stream_id bigint NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    layer text COLLATE "C",
    parent_run_id text COLLATE "C",
    kind text COLLATE "C",
    name text COLLATE "C",
    tags text COLLATE "C",
    metadata text COLLATE "C",
    first_seq bigint,
    last_seq bigint,
    status text COLLATE "C",
    error text COLLATE "C",
    serves text COLLATE "C",
    PRIMARY KEY (stream_id, run_id)
);

CREATE TABLE rm_messages (
    stream_id bigint NOT NULL,
    message_ref text COLLATE "C" NOT NULL,
    layer text COLLATE "C",
    run_id text COLLATE "C",
    message_id text COLLATE "C",
    choice bigint,
    role text COLLATE "C",
    model text COLLATE "C",
    first_seq bigint,
    last_seq bigint,
    finish_reason text COLLATE "C",
    input_tokens bigint,
    output_tokens bigint,
    text text COLLATE "C",
    closed bigint NOT NULL DEFAULT 0,
    superseded bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (stream_id, message_ref)
);

CREATE TABLE rm_message_pieces (
    stream_id bigint NOT NULL,
    message_ref text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    ordinal bigint NOT NULL,
    text text COLLATE "C",
    PRIMARY KEY (stream_id, message_ref, seq, ordinal)
);

CREATE TABLE rm_message_states (
    stream_id bigint NOT NULL,
    message_ref text COLLATE "C" NOT NULL,
    closed_seq bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (stream_id, message_ref)
);

CREATE INDEX rm_message_states_closed ON rm_message_states (stream_id, closed_seq, message_ref);

CREATE TABLE rm_tool_call_chunks (
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    ordinal bigint NOT NULL,
    layer text COLLATE "C",
    run_id text COLLATE "C",
    message_ref text COLLATE "C",
    choice bigint,
    call_ref text COLLATE "C",
    call_index bigint,
    call_id text COLLATE "C",
    name text COLLATE "C",
    args text COLLATE "C",
    PRIMARY KEY (stream_id, seq, ordinal)
);

CREATE INDEX rm_tool_call_chunks_call ON rm_tool_call_chunks (stream_id, call_ref, seq, ordinal);

CREATE TABLE rm_tool_calls (
    stream_id bigint NOT NULL,
    call_ref text COLLATE "C" NOT NULL,
    layer text COLLATE "C",
    run_id text COLLATE "C",
    message_ref text COLLATE "C",
    choice bigint,
    position bigint,
    call_index bigint,
    call_id text COLLATE "C",
    name text COLLATE "C",
    args text COLLATE "C",
    args_state text COLLATE "C",
    first_seq bigint,
    last_seq bigint,
    executor text COLLATE "C",
    source text COLLATE "C",
    legacy bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (stream_id, call_ref)
);

CREATE TABLE rm_tool_messages (
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    ordinal bigint NOT NULL,
    tool_call_id text COLLATE "C",
    name text COLLATE "C",
    content text COLLATE "C",
    content_is_json bigint NOT NULL DEFAULT 0,
    status text COLLATE "C",
    artifact text COLLATE "C",
    message_id text COLLATE "C",
    additional_kwargs text COLLATE "C",
    response_metadata text COLLATE "C",
    source text COLLATE "C",
    run_id text COLLATE "C",
    executor text COLLATE "C",
    PRIMARY KEY (stream_id, seq, ordinal)
);

CREATE TABLE rm_pairings (
    stream_id bigint NOT NULL,
    position bigint NOT NULL,
    call_ref text COLLATE "C",
    call_id text COLLATE "C",
    name text COLLATE "C",
    status text COLLATE "C",
    call_seq bigint,
    answer_seq bigint,
    answer_status text COLLATE "C",
    executor text COLLATE "C",
    failed_seq bigint,
    PRIMARY KEY (stream_id, position)
);

CREATE INDEX rm_pairings_call ON rm_pairings (stream_id, call_ref);

CREATE TABLE rm_findings (
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    ordinal bigint NOT NULL,
    rule text COLLATE "C",
    severity text COLLATE "C",
    run_id text COLLATE "C",
    call_id text COLLATE "C",
    detail text COLLATE "C",
    PRIMARY KEY (stream_id, seq, ordinal)
);

CREATE VIEW runs AS
SELECT s.name AS stream, r.run_id, r.parent_run_id, r.kind, r.name, r.tags, r.metadata, r.first_seq, r.last_seq,
    r.status, r.error, r.layer, r.serves
FROM rm_runs r JOIN log_streams s ON s.stream_id = r.stream_id;

CREATE VIEW tool_call_chunks_all AS
SELECT s.name AS stream, k.seq, k.ordinal, coalesce(k.layer, c.layer) AS layer,
    coalesce(k.run_id, c.run_id) AS run_id, m.message_id, coalesce(k.choice, c.choice) AS choice, k.call_ref,
    k.call_index, k.call_id, k.name, k.args, coalesce(k.message_ref, c.message_ref) AS message_ref,
    coalesce(m.superseded, 0) AS superseded, r.serves
FROM rm_tool_call_chunks k
JOIN log_streams s ON s.stream_id = k.stream_id
LEFT JOIN rm_tool_calls c ON c.stream_id = k.stream_id AND c.call_ref = k.call_ref
LEFT JOIN rm_messages m ON m.stream_id = k.stream_id AND m.message_ref = coalesce(k.message_ref, c.message_ref)
LEFT JOIN rm_runs r ON r.stream_id = k.stream_id AND r.run_id = coalesce(k.run_id, c.run_id);

CREATE VIEW tool_call_chunks AS SELECT * FROM tool_call_chunks_all WHERE serves IS NULL AND superseded = 0;

CREATE VIEW tool_calls_all AS
SELECT s.name AS stream, c.call_ref, c.layer, c.run_id, m.message_id, c.choice, c.position, c.call_index,
    c.call_id, c.name,
    CASE WHEN c.args IS NOT NULL THEN c.args ELSE coalesce((
        SELECT string_agg(p.args, '' ORDER BY p.seq, p.ordinal)
        FROM rm_tool_call_chunks p WHERE p.stream_id = c.stream_id AND p.call_ref = c.call_ref
    ), '') END AS args,
    c.args_state, c.first_seq, c.last_seq, c.executor, c.source, c.legacy, c.message_ref,
    coalesce(m.superseded, 0) AS superseded, r.serves
FROM rm_tool_calls c
JOIN log_streams s ON s.stream_id = c.stream_id
LEFT JOIN rm_messages m ON m.stream_id = c.stream_id AND m.message_ref = c.message_ref
LEFT JOIN rm_runs r ON r.stream_id = c.stream_id AND r.run_id = c.run_id;

CREATE VIEW tool_calls AS SELECT * FROM tool_calls_all WHERE serves IS NULL AND superseded = 0;

CREATE VIEW tool_messages AS
SELECT s.name AS stream, t.seq, t.tool_call_id, t.name, t.content, t.status, t.artifact, t.message_id,
    t.additional_kwargs, t.response_metadata, t.source, t.run_id, t.ordinal, t.content_is_json, t.executor
FROM rm_tool_messages t JOIN log_streams s ON s.stream_id = t.stream_id;

CREATE VIEW pairings AS
SELECT s.name AS stream, p.call_ref, p.call_id, p.name, p.status, p.call_seq, p.answer_seq, p.answer_status,
    p.position, p.executor
FROM rm_pairings p JOIN log_streams s ON s.stream_id = p.stream_id;

CREATE VIEW messages_all AS
SELECT s.name AS stream, m.layer, m.run_id, m.message_id, m.choice, m.role, m.model, m.first_seq, m.last_seq,
    m.finish_reason, m.input_tokens, m.output_tokens,
    CASE WHEN m.text IS NOT NULL OR m.closed <> 0 THEN m.text ELSE coalesce((
        SELECT string_agg(p.text, '' ORDER BY p.seq, p.ordinal)
        FROM rm_message_pieces p WHERE p.stream_id = m.stream_id AND p.message_ref = m.message_ref
    ), '') END AS text,
    m.message_ref, m.closed, m.superseded, r.serves
FROM rm_messages m
JOIN log_streams s ON s.stream_id = m.stream_id
LEFT JOIN rm_runs r ON r.stream_id = m.stream_id AND r.run_id = m.run_id;

CREATE VIEW messages AS SELECT * FROM messages_all WHERE serves IS NULL AND superseded = 0;

CREATE VIEW findings AS
SELECT s.name AS stream, f.rule, f.severity, f.seq, f.run_id, f.call_id, f.detail, f.ordinal
FROM rm_findings f JOIN log_streams s ON s.stream_id = f.stream_id;
