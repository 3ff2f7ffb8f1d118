-- What a run was given and gave back: where it stands in which event, and the view that shows it.
--
-- Nothing is stored twice: the paths are JSON paths into the body of an event, and the view reads them there. A body
-- that is no JSON shows no values. `json`, unlike `jsonb`, gives text back as it came.

ALTER TABLE rm_runs
    ADD COLUMN input_seq bigint,
    ADD COLUMN input_path text COLLATE "C",
    ADD COLUMN output_seq bigint,
    ADD COLUMN output_path text COLLATE "C";

-- `$.data.input`, `$[1].result`: keys and places behind each other. There is no test for JSON before Postgres 16.
CREATE FUNCTION log_json_at(body text, path text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$ -- and not PARALLEL SAFE: before 17 no worker can catch an error
BEGIN
    RETURN body::json #> string_to_array(ltrim(regexp_replace(substr(path, 2), '\[(\d+)\]', '.\1', 'g'), '.'), '.');
EXCEPTION WHEN others THEN
    RETURN NULL;
END $$;

CREATE OR REPLACE VIEW runs AS
SELECT s.name AS stream, r.run_id, r.parent_run_id, r.kind, r.name, r.tags, r.metadata, r.first_seq, r.last_seq,
    r.status, r.error, r.layer, r.serves, r.input_seq, r.output_seq,
    (
        SELECT log_json_at(e.text, r.input_path) FROM events e
        WHERE e.stream = s.name AND e.seq = r.input_seq
    ) AS input,
    (
        SELECT log_json_at(e.text, r.output_path) FROM events e
        WHERE e.stream = s.name AND e.seq = r.output_seq
    ) AS output
FROM rm_runs r JOIN log_streams s ON s.stream_id = r.stream_id;
