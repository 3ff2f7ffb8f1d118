-- Erasures: what was blanked, when and why, in a chain of its own; only what is recorded here may be blanked.

CREATE TABLE log_erasures (
    stream_id bigint NOT NULL,
    erasure bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    reason text COLLATE "C" NOT NULL,
    erased_at bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (stream_id, erasure)
);

CREATE FUNCTION log_erasures_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.erasure <> (SELECT coalesce(max(erasure), 0) + 1 FROM log_erasures WHERE stream_id = NEW.stream_id)
        OR NEW.first_seq < 1 OR NEW.last_seq < NEW.first_seq
        OR NEW.last_seq > coalesce((SELECT last_seq FROM log_streams WHERE stream_id = NEW.stream_id), 0) THEN
        RAISE EXCEPTION 'events are append-only: an erasure goes behind the last one, over events there are'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER log_erasures_insert BEFORE INSERT ON log_erasures
    FOR EACH ROW EXECUTE FUNCTION log_erasures_inserted();
ALTER TABLE log_erasures ENABLE ALWAYS TRIGGER log_erasures_insert;
CALL log_protect('log_erasures', 'an erasure');
CALL log_freeze('log_erasures', 'an erasure');

CREATE OR REPLACE FUNCTION log_events_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT 1
        FROM changed n LEFT JOIN unchanged o ON o.stream_id = n.stream_id AND o.seq = n.seq
        WHERE o.seq IS NULL OR o.erased <> 0 OR n.erased <> 1
            OR n.body <> ''::bytea OR n.frame IS NOT NULL OR n.cuts IS NOT NULL OR n.meta IS NOT NULL
            OR n.salt IS NOT NULL
            OR (n.event_id, n.type_id, n.origin_id, n.source_id, n.occurred_at, n.arrived_at, n.recorded_at, n.codec,
                n.redacted, n.body_hash, n.hash, n.version)
                IS DISTINCT FROM
               (o.event_id, o.type_id, o.origin_id, o.source_id, o.occurred_at, o.arrived_at, o.recorded_at, o.codec,
                o.redacted, o.body_hash, o.hash, o.version)
    ) THEN
        RAISE EXCEPTION 'events are append-only: an event is never changed' USING ERRCODE = 'restrict_violation';
    END IF;
    IF EXISTS (
        SELECT 1 FROM changed n WHERE NOT EXISTS (
            SELECT 1 FROM log_erasures x
            WHERE x.stream_id = n.stream_id AND x.first_seq <= n.seq AND x.last_seq >= n.seq
        )
    ) THEN
        RAISE EXCEPTION 'events are append-only: an event is blanked only where its erasure is recorded'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE VIEW erasures AS
SELECT s.name AS stream, x.erasure, x.first_seq, x.last_seq, x.reason, log_iso(x.erased_at) AS erased_at,
    encode(x.hash, 'hex') AS hash
FROM log_erasures x JOIN log_streams s ON s.stream_id = x.stream_id;

-- The functions of triggers find tables by their names. Temporary tables of the session would come first, and could
-- tell them of another log than there is: in the path of these functions they come last.
DO $$
DECLARE
    named regprocedure;
BEGIN
    FOR named IN
        SELECT oid FROM pg_proc
        WHERE pronamespace = quote_ident(current_schema())::regnamespace AND prorettype = 'trigger'::regtype
            AND proname LIKE 'log\_%'
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', named, current_schema());
    END LOOP;
END $$;

-- The planner's statistics are samples of what columns hold, and would outlive an erasure: of content there are none.
DO $$
DECLARE
    place regclass;
    content name;
BEGIN
    FOR place, content IN
        SELECT c.oid, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p')
            AND a.attnum > 0 AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
            AND (c.relname LIKE 'rm\_%'
                OR c.relname LIKE 'log\_events%' AND a.attname IN ('body', 'frame', 'cuts', 'meta', 'salt')
                OR (c.relname, a.attname) IN (('log_snapshots', 'body'), ('log_captures', 'digest')))
    LOOP
        EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN %I SET STATISTICS 0', place, content);
    END LOOP;
END $$;
