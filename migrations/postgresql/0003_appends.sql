-- Appends: one row for each, in an order in which readers of the whole log can miss none.
--
-- Transactions commit in another order than they begin, so a number from a sequence can appear behind a reader's back.
-- `position` is the id of the transaction that appended, or the stream's last position where that is greater (a
-- transaction that began earlier may append later). What lies below every transaction that is still open,
-- `pg_snapshot_xmin`, is complete, and what is written from then on lies above it. Ids of transactions start anew where
-- a dump is restored: `epoch` counts that.

CREATE TABLE log_appends (
    stream_id bigint NOT NULL,
    epoch bigint NOT NULL,
    position bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    PRIMARY KEY (stream_id, epoch, position, first_seq)
);
CREATE INDEX log_appends_order ON log_appends (epoch, position, stream_id, last_seq);

CREATE TABLE log_epochs (
    epoch bigint NOT NULL PRIMARY KEY,
    began_at timestamptz NOT NULL DEFAULT now()
);

INSERT INTO log_epochs (epoch) VALUES (0);
INSERT INTO log_appends (stream_id, epoch, position, first_seq, last_seq)
SELECT stream_id, 0, 0, 1, last_seq FROM log_streams WHERE last_seq > 0;

CALL log_protect('log_appends', 'an append');
CALL log_freeze('log_appends', 'an append');
CALL log_protect('log_epochs', 'an epoch');
CALL log_freeze('log_epochs', 'an epoch');

-- Gives the append its place, whatever was given for it: one that is too low would be missed, one that is too high would
-- hold up all that follow.
CREATE FUNCTION log_appends_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    previous log_appends%ROWTYPE;
BEGIN
    SELECT * INTO previous FROM log_appends
        WHERE stream_id = NEW.stream_id ORDER BY epoch DESC, position DESC, first_seq DESC LIMIT 1;
    IF NEW.first_seq <> coalesce(previous.last_seq, 0) + 1 OR NEW.last_seq < NEW.first_seq
        OR NEW.last_seq IS DISTINCT FROM (SELECT last_seq FROM log_streams WHERE stream_id = NEW.stream_id) THEN
        RAISE EXCEPTION 'events are append-only: an append is what its stream grew by, once'
            USING ERRCODE = 'restrict_violation';
    END IF;
    SELECT max(epoch) INTO NEW.epoch FROM log_epochs;
    NEW.position := greatest(
        pg_current_xact_id()::text::bigint,
        CASE WHEN previous.epoch = NEW.epoch THEN previous.position END
    );
    RETURN NEW;
END $$;

CREATE TRIGGER log_appends_insert BEFORE INSERT ON log_appends
    FOR EACH ROW EXECUTE FUNCTION log_appends_inserted();
ALTER TABLE log_appends ENABLE ALWAYS TRIGGER log_appends_insert;

-- Moves the head of a stream to its new last event and notes the append: one call for the writer.
CREATE FUNCTION log_grow(stream bigint, first bigint, last bigint, head bytea) RETURNS void LANGUAGE sql AS $$
    UPDATE log_streams SET last_seq = last, head_hash = head WHERE stream_id = stream;
    INSERT INTO log_appends (stream_id, first_seq, last_seq) VALUES (stream, first, last);
$$;
