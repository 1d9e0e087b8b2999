/** Drops data that is closed, too old, or to be erased. */
export const DROPPING = `
CREATE FUNCTION $S.drop_logs(p_logs bigint[]) RETURNS void LANGUAGE sql VOLATILE AS $q$
  DELETE FROM $S.batch WHERE log = ANY (p_logs);
  DELETE FROM $S.checkpoint WHERE log = ANY (p_logs);
  DELETE FROM $S.message WHERE log = ANY (p_logs);
  DELETE FROM $S.said WHERE log = ANY (p_logs);
  DELETE FROM $S.log WHERE id = ANY (p_logs);
$q$;

CREATE FUNCTION $S.drop_session(p_session bigint) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM $S.drop_logs(array_agg(g.id)) FROM $S.log g WHERE g.session = p_session;
  DELETE FROM $S.step t WHERE t.session = p_session;
  DELETE FROM $S.run r WHERE r.session = p_session;
  PERFORM $S.lock_records(s.key) FROM $S.session s WHERE s.id = p_session;
  DELETE FROM $S.record r USING $S.session s WHERE s.id = p_session AND r.home = s.key;
END $f$;

CREATE FUNCTION $S.leave_notice(p_session bigint, p_epoch text, p_term bigint, p_data text, p_size bigint, p_was jsonb)
RETURNS void LANGUAGE plpgsql AS $f$
DECLARE v_log bigint; v_now bigint := $S.now_ms();
BEGIN
  INSERT INTO $S.log AS g (session, epoch, created, closed, head, size, term, terms, was)
    VALUES (p_session, p_epoch, v_now, v_now, 1, p_size, p_term, ARRAY[p_term, 1], p_was) RETURNING g.id INTO v_log;
  INSERT INTO $S.batch VALUES (v_log, 1, 1, p_size, p_data);
  UPDATE $S.session s SET log = v_log, open = NULL, used = v_now, archived = false, searched = NULL, about = DEFAULT,
    forked_from = NULL WHERE s.id = p_session;
END $f$;

-- Whether there was a session that is closed.
CREATE FUNCTION $S.remove(me text, p_key text) RETURNS boolean LANGUAGE plpgsql AS $f$
DECLARE v_session bigint; v_log bigint;
BEGIN
  SELECT k.v_session, k.v_log INTO v_session, v_log FROM $S.lock_session(p_key) k;
  IF v_session IS NULL THEN RETURN false; END IF;
  PERFORM FROM $S.log g WHERE g.id = v_log AND g.closed IS NULL;
  IF FOUND THEN RETURN false; END IF;
  PERFORM $S.drop_session(v_session);
  DELETE FROM $S.session s WHERE s.id = v_session;
  PERFORM $S.bell(p_key, me);
  RETURN true;
END $f$;

-- Forgets sessions without a log. They are locked before that is looked at: one may be beginning anew.
CREATE FUNCTION $S.forget_sessions(p_sessions bigint[]) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM FROM $S.session s WHERE s.id = ANY (p_sessions) ORDER BY s.id FOR UPDATE;
  PERFORM $S.lock_records(s.key) FROM $S.session s WHERE s.id = ANY (p_sessions);
  WITH gone AS (
    DELETE FROM $S.session s WHERE s.id = ANY (p_sessions) AND NOT EXISTS (SELECT FROM $S.log g WHERE g.session = s.id)
      RETURNING s.id, s.key
  ), runs AS (
    DELETE FROM $S.run r USING gone WHERE r.session = gone.id
  ) DELETE FROM $S.record r USING gone WHERE r.home = gone.key;
END $f$;

-- Drops at most so many, and leaves alone what somebody works with. How many it dropped.
CREATE FUNCTION $S.expire(p_before bigint, p_limit int) RETURNS int LANGUAGE plpgsql AS $f$
DECLARE v_runs int; v_logs bigint[]; v_of bigint[];
BEGIN
  DELETE FROM $S.run r USING (SELECT o.session, o.run_id FROM $S.run o WHERE o.ended < p_before LIMIT p_limit FOR UPDATE SKIP LOCKED) AS old
    WHERE r.session = old.session AND r.run_id = old.run_id;
  GET DIAGNOSTICS v_runs = ROW_COUNT;
  SELECT coalesce(array_agg(o.id), '{}'), array_agg(o.session) INTO v_logs, v_of
    FROM (SELECT g.id, g.session FROM $S.log g WHERE g.closed < p_before LIMIT p_limit FOR UPDATE SKIP LOCKED) AS o;
  PERFORM $S.drop_logs(v_logs);
  PERFORM $S.forget_sessions(v_of);
  RETURN v_runs + cardinality(v_logs);
END $f$;
`;
