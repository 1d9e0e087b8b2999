/** The texts that open conversations show, for search: kept with their appends, found by their words. */
export const SEARCHING = `
CREATE TABLE $S.said (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  log bigint NOT NULL, depth bigint NOT NULL,
  message text NOT NULL, role text NOT NULL, at bigint NOT NULL,
  seq bigint NOT NULL, term bigint NOT NULL,
  text text NOT NULL,
  words tsvector NOT NULL,                -- as the gateway makes them, and those of its log, app and scope
  UNIQUE (log, depth)
);
CREATE INDEX said_words ON $S.said USING gin (words);

CREATE FUNCTION $S.put_said(p_log bigint, p_term bigint, p_seq bigint, p_said jsonb) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  IF p_said ? 'from' THEN DELETE FROM $S.said d WHERE d.log = p_log AND d.depth >= (p_said ->> 'from')::bigint; END IF;
  IF p_said ? 'gone' THEN
    DELETE FROM $S.said d WHERE d.log = p_log AND d.depth IN (SELECT g::bigint FROM jsonb_array_elements_text(p_said -> 'gone') AS g);
  END IF;
  INSERT INTO $S.said (log, depth, message, role, at, seq, term, text, words)
    SELECT p_log, t.depth, t.message, t.role, t.at, p_seq, p_term, t.text, t.words::tsvector
    FROM jsonb_to_recordset(p_said -> 'put') AS t (depth bigint, message text, role text, at bigint, text text, words text)
  ON CONFLICT (log, depth) DO UPDATE SET message = excluded.message, role = excluded.role, at = excluded.at, seq = excluded.seq,
    term = excluded.term, text = excluded.text, words = excluded.words;
END $f$;

-- The planner knows how common the words are: it goes through the newest texts for common ones, and asks the index for others.
CREATE FUNCTION $S.find_said(p_words tsquery, p_before bigint, p_limit int)
RETURNS TABLE (v_id bigint, message text, role text, at bigint, seq bigint, term bigint, text text, epoch text, scope text, app text, name text)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $f$
BEGIN
  RETURN QUERY
    SELECT d.id, d.message, d.role, d.at, d.seq, d.term, d.text, l.epoch, s.scope::text, s.app::text, s.name::text
    FROM (SELECT f.id FROM $S.said f WHERE f.words @@ p_words AND f.id < p_before ORDER BY f.id DESC LIMIT p_limit) AS page
    JOIN $S.said d ON d.id = page.id JOIN $S.log l ON l.id = d.log JOIN $S.session s ON s.id = l.session
    ORDER BY d.id DESC;
END $f$;
`;
