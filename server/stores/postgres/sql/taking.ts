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

CREATE FUNCTION $S.put_messages(p_log bigint, p_messages jsonb) RETURNS void LANGUAGE sql VOLATILE AS $q$
  INSERT INTO $S.message AS m (log, id, parent, size, data, versions, version_count, version_size)
    SELECT p_log, x.id, x.parent, x.size, x.data, x.versions, coalesce(x.version_count, 0), coalesce(x.version_size, 0)
    FROM jsonb_to_recordset(p_messages)
      AS x (id text, parent text, size bigint, data text, versions text, version_count int, version_size int)
  ON CONFLICT (log, id) DO UPDATE SET n = nextval('$S.message_n'), parent = excluded.parent, size = excluded.size,
    data = excluded.data, versions = excluded.versions, version_count = excluded.version_count,
    version_size = excluded.version_size
$q$;

-- c: how it begins where there is none; its own copy of a path has as many messages as were seen when it was prepared.
CREATE FUNCTION $S.acquire(p_key text, p_scope text, p_app text, p_name text, p_holder text, p_from text, c jsonb)
RETURNS TABLE (kind text, v_holder text, v_term bigint, v_log bigint) LANGUAGE plpgsql AS $f$
DECLARE v_session bigint; l $S.log; v_now bigint; v_copied bigint;
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
    v_term := $S.next_term(l.term);
    -- A term that wrote nothing is not worth remembering.
    IF l.terms[cardinality(l.terms)] = l.head + 1 THEN l.terms := l.terms[: cardinality(l.terms) - 2]; END IF;
    UPDATE $S.log g SET term = v_term, terms = l.terms || ARRAY[v_term, l.head + 1], holder = p_holder,
      batch = 0, batch_first = l.head + 1 WHERE g.id = l.id;
    PERFORM pg_notify('asg_' || m.node, 't' || p_key) FROM $S.member m WHERE m.holder = l.holder AND l.holder <> p_holder;
    kind := 'acquired'; RETURN NEXT; RETURN;
  END IF;
  IF c IS NULL THEN kind := 'absent'; RETURN NEXT; RETURN; END IF;
  v_term := $S.next_term(coalesce(l.term, 0));
  -- Who wrote the former log is not answered any more.
  UPDATE $S.log g SET term = 0, holder = '' WHERE g.id = v_log;
  v_now := $S.now_ms();
  INSERT INTO $S.log AS g (session, epoch, user_id, created, term, terms, holder)
    VALUES (v_session, c ->> 'epoch', c ->> 'userId', v_now, v_term, ARRAY[v_term, 1], p_holder) RETURNING g.id INTO v_log;
  UPDATE $S.session s SET log = v_log, open = v_log, used = v_now, archived = false, searched = c ->> 'searched',
    about = c ->> 'about', forked_from = c ->> 'forkedFrom' WHERE s.id = v_session;
  IF c ? 'source' THEN
    INSERT INTO $S.message (log, id, parent, size, data)
      WITH RECURSIVE path(id, parent) AS (
        SELECT m.id, m.parent FROM $S.message m WHERE m.log = (c ->> 'source')::bigint AND m.id = c ->> 'tip'
        UNION
        SELECT m.id, m.parent FROM path p JOIN $S.message m ON m.log = (c ->> 'source')::bigint AND m.id = p.parent
      ) SELECT v_log, m.id, m.parent, m.size, m.data FROM path p
        JOIN $S.message m ON m.log = (c ->> 'source')::bigint AND m.id = p.id ORDER BY m.n;
    GET DIAGNOSTICS v_copied = ROW_COUNT;
    IF v_copied <> (c ->> 'copied')::bigint THEN
      RAISE EXCEPTION 'What is copied has changed meanwhile' USING ERRCODE = '40001';
    END IF;
  END IF;
  IF c ? 'messages' THEN PERFORM $S.put_messages(v_log, c -> 'messages'); END IF;
  IF c ? 'checkpoint' THEN
    INSERT INTO $S.checkpoint VALUES (v_log, c ->> 'checkpoint');
    UPDATE $S.log g SET size = coalesce((SELECT sum(m.size) FROM $S.message m WHERE m.log = v_log), 0) WHERE g.id = v_log;
  END IF;
  kind := 'created'; RETURN NEXT;
END $f$;

CREATE FUNCTION $S.release(p_key text, p_term bigint) RETURNS void LANGUAGE sql VOLATILE AS $q$
  UPDATE $S.log l SET holder = '' FROM $S.session s WHERE s.key = p_key AND l.id = s.log AND l.term = p_term
$q$;
`;
