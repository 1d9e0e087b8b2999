/** Takes a session for writing, and gives it up. */
export const TAKING = `
-- Never given twice, also where the server has forgotten its last moments: it goes with the clock.
CREATE FUNCTION $S.next_term(former bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
  'SELECT greatest(former + 1, floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)';

CREATE FUNCTION $S.bell(p_key text, but text) RETURNS void LANGUAGE sql VOLATILE AS
  $q$SELECT pg_notify('asg_' || node, 'w' || p_key) FROM $S.follower WHERE key = p_key AND node <> but$q$;

-- Locks the present log of a session, if it has one, and the session. NULL: there is no such session.
CREATE FUNCTION $S.lock_session(p_key text, OUT v_session bigint, OUT v_log bigint) LANGUAGE plpgsql AS $f$
DECLARE v_present bigint;
BEGIN
  LOOP
    SELECT s.id, s.log INTO v_session, v_present FROM $S.session s WHERE s.key = p_key;
    EXIT WHEN NOT FOUND;
    SELECT l.id INTO v_log FROM $S.log l WHERE l.id = v_present FOR UPDATE;
    PERFORM FROM $S.session s WHERE s.id = v_session AND s.log IS NOT DISTINCT FROM v_present FOR UPDATE;
    EXIT WHEN FOUND;
  END LOOP;
END $f$;

-- c: how it begins where there is none.
CREATE FUNCTION $S.acquire(p_key text, p_scope text, p_app text, p_name text, p_holder text, p_from text, c jsonb, p_term bigint)
RETURNS TABLE (kind text, v_holder text, v_term bigint, v_log bigint) LANGUAGE plpgsql AS $f$
DECLARE v_session bigint; l $S.log; v_now bigint; v_after bigint;
BEGIN
  LOOP
    SELECT k.v_session, k.v_log INTO v_session, v_log FROM $S.lock_session(p_key) k;
    EXIT WHEN v_session IS NOT NULL OR c IS NULL;
    INSERT INTO $S.session AS s (key, scope, app, name) VALUES (p_key, p_scope, p_app, p_name)
      ON CONFLICT (key) DO NOTHING RETURNING s.id INTO v_session;
    EXIT WHEN FOUND;
  END LOOP;
  SELECT * INTO l FROM $S.log g WHERE g.id = v_log;
  IF v_log IS NOT NULL AND l.closed IS NULL THEN
    IF l.holder NOT IN ('', p_holder, coalesce(p_from, '')) THEN
      kind := 'owned'; v_holder := l.holder; RETURN NEXT; RETURN;
    END IF;
    v_term := coalesce(p_term, $S.next_term(l.term));
    -- A term that wrote nothing is not worth remembering.
    IF l.terms[cardinality(l.terms)] = l.head + 1 THEN l.terms := l.terms[: cardinality(l.terms) - 2]; END IF;
    UPDATE $S.log g SET term = v_term, terms = CASE WHEN l.terms[cardinality(l.terms) - 1] = v_term THEN l.terms ELSE l.terms || ARRAY[v_term, l.head + 1] END, holder = p_holder,
      batch = 0, batch_first = l.head + 1 WHERE g.id = l.id;
    PERFORM pg_notify('asg_' || m.node, 't' || p_key) FROM $S.member m WHERE m.holder = l.holder AND l.holder <> p_holder;
    kind := 'acquired'; RETURN NEXT; RETURN;
  END IF;
  IF c IS NULL THEN kind := 'absent'; RETURN NEXT; RETURN; END IF;
  v_term := coalesce(p_term, $S.next_term(coalesce(l.term, 0)));
  v_after := coalesce((c ->> 'after')::bigint, 0);
  -- Who wrote the former log is not answered any more.
  UPDATE $S.log g SET term = 0, holder = '' WHERE g.id = v_log;
  v_now := coalesce((c ->> 'createdAt')::bigint, $S.now_ms());
  INSERT INTO $S.log AS g (session, epoch, user_id, created, first, head, term, terms, holder)
    VALUES (v_session, c ->> 'epoch', c ->> 'userId', v_now, greatest(v_after, 1), v_after, v_term, ARRAY[v_term, v_after + 1], p_holder) RETURNING g.id INTO v_log;
  UPDATE $S.session s SET log = v_log, open = v_log, used = v_now, archived = false, searched = NULL,
    about = c ->> 'about', forked_from = c ->> 'forkedFrom' WHERE s.id = v_session;
  kind := 'created'; RETURN NEXT;
END $f$;

CREATE FUNCTION $S.release(p_key text, p_term bigint) RETURNS void LANGUAGE sql VOLATILE AS $q$
  UPDATE $S.log l SET holder = '' FROM $S.session s WHERE s.key = p_key AND l.id = s.log AND l.term = p_term
$q$;
`;
