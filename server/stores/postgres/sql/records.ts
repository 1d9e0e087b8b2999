/** Records: changes them together, with an append or alone, and takes due ones. */
export const RECORDS = `
CREATE FUNCTION $S.token_after(former bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
  'SELECT greatest(former + 1, floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)';

-- Whoever puts records into a home, and whoever drops them with it, do so one after the other.
CREATE FUNCTION $S.lock_records(p_home text) RETURNS void LANGUAGE sql VOLATILE AS
  'SELECT pg_advisory_xact_lock(hashtextextended(p_home, 1095980887))';

-- False: one is not the record that was asked for, or one is put into a session that is gone. Nothing is changed then.
CREATE FUNCTION $S.change_records(p_home text, p_scope text, p_app text, p_name text, p_changes jsonb) RETURNS boolean
LANGUAGE plpgsql AS $f$
BEGIN
  -- Of a row that is not there yet there is nothing to lock.
  PERFORM $S.lock_records(p_home);
  IF p_app IS NOT NULL AND EXISTS (SELECT FROM jsonb_to_recordset(p_changes) AS c (value text) WHERE c.value IS NOT NULL)
    AND NOT EXISTS (SELECT FROM $S.session s JOIN $S.log g ON g.id = s.log WHERE s.key = p_home AND g.was IS NULL) THEN RETURN false;
  END IF;
  PERFORM FROM jsonb_to_recordset(p_changes) AS c (kind text, id text, token bigint)
    LEFT JOIN $S.record r ON r.home = p_home AND r.kind = c.kind AND r.id = c.id
    WHERE c.token IS NOT NULL AND c.token <> coalesce(r.token, 0);
  IF FOUND THEN RETURN false; END IF;
  DELETE FROM $S.record r USING jsonb_to_recordset(p_changes) AS c (kind text, id text, value text)
    WHERE r.home = p_home AND r.kind = c.kind AND r.id = c.id AND c.value IS NULL;
  INSERT INTO $S.record AS r (home, kind, id, scope, app, name, owner, due, token, value)
    SELECT p_home, c.kind, c.id, p_scope, p_app, p_name, c.owner, c.due, $S.token_after(0), c.value
    FROM jsonb_to_recordset(p_changes) AS c (kind text, id text, owner text, due bigint, value text)
    WHERE c.value IS NOT NULL
  ON CONFLICT (home, kind, id) DO UPDATE SET owner = excluded.owner, due = excluded.due, value = excluded.value,
    token = $S.token_after(r.token);
  RETURN true;
END $f$;

-- What is taken, and last of all a row without a name that says when the next is due, and the time.
CREATE FUNCTION $S.take_due(p_limit int, p_lease bigint, p_ahead bigint)
RETURNS TABLE (kind text, id text, scope text, app text, name text, owner text, due bigint, token bigint, value text)
LANGUAGE plpgsql AS $f$
DECLARE v_now bigint := $S.now_ms() + p_ahead; t $S.record; v_token bigint;
BEGIN
  FOR t IN SELECT * FROM $S.record r WHERE r.due <= v_now ORDER BY r.due LIMIT p_limit FOR UPDATE SKIP LOCKED LOOP
    v_token := $S.token_after(t.token);
    UPDATE $S.record r SET due = v_now + p_lease, token = v_token WHERE r.home = t.home AND r.kind = t.kind AND r.id = t.id;
    kind := t.kind; id := t.id; scope := t.scope; app := t.app; name := t.name; owner := t.owner; due := t.due; token := v_token;
    value := t.value;
    RETURN NEXT;
  END LOOP;
  kind := NULL; token := v_now;
  SELECT min(r.due) INTO due FROM $S.record r WHERE r.due IS NOT NULL;
  RETURN NEXT;
END $f$;
`;
