/** The longest batch that a notification can carry beside its other fields, in bytes. */
const TOLD = 7800;

/**
 * Appends and cuts. Appends of one gateway at about the same time, in several sessions, are one call and one commit. `x` has the changes
 * that come with the events; most appends have none.
 */
export const APPENDING = `
CREATE FUNCTION $S.append(
  me text, p_logs bigint[], p_keys text[], p_terms bigint[], p_batches bigint[], p_counts int[], p_sizes bigint[], p_data text[],
  p_extras text[]
) RETURNS TABLE (place int, kind text, v_first bigint, v_last bigint, v_known json) LANGUAGE plpgsql AS $f$
DECLARE l $S.log; w jsonb; x jsonb; v_epoch text;
  -- Of those that were written together.
  v_firsts bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(p_logs)]);
  v_epochs text[] := array_fill(NULL::text, ARRAY[cardinality(p_logs)]);
BEGIN
  -- What is written together, and what one by one, in the one order of all.
  IF cardinality(p_logs) > 1 AND cardinality(array_remove(p_extras, NULL)) > 0 THEN
    PERFORM FROM unnest(p_logs, p_terms) AS a (log, term) JOIN $S.log g ON g.id = a.log AND g.term = a.term ORDER BY g.id FOR UPDATE OF g;
  END IF;
  FOR place, v_first, v_epoch IN
    WITH a AS (
      SELECT * FROM unnest(p_logs, p_terms, p_batches, p_counts, p_sizes, p_data, p_extras)
        WITH ORDINALITY AS a (log, term, batch, count, size, data, extra, i)
    ), done AS (
      UPDATE $S.log g SET head = g.head + a.count, batch = a.batch, batch_first = g.head + 1, size = g.size + a.size
        FROM a WHERE g.id = a.log AND g.term = a.term AND g.batch = a.batch - 1 AND g.closed IS NULL AND a.extra IS NULL
        RETURNING a.i, g.id, g.epoch, a.count, a.size, a.data, g.batch_first AS first, g.head AS last
    ), kept AS (
      INSERT INTO $S.batch SELECT d.id, d.last, d.first, d.size, d.data FROM done d WHERE d.count > 0
    ) SELECT d.i, d.first, d.epoch FROM done d
  LOOP
    v_firsts[place] := v_first;
    v_epochs[place] := v_epoch;
  END LOOP;
  place := 0; kind := array_to_string(v_firsts, ',', '');
  RETURN NEXT;

  FOR i IN 1 .. cardinality(p_logs) LOOP
    CONTINUE WHEN v_firsts[i] IS NOT NULL;
    place := i; kind := 'written'; v_known := NULL;
    -- What another writer holds is not waited for: its term is never given again.
    SELECT * INTO l FROM $S.log g WHERE g.id = p_logs[i] AND g.term = p_terms[i] FOR UPDATE;
    IF NOT FOUND THEN
      SELECT g.was INTO w FROM $S.session s JOIN $S.log g ON g.session = s.id
        WHERE s.key = p_keys[i] AND (g.was ->> 'log')::bigint = p_logs[i] AND (g.was ->> 'term')::bigint = p_terms[i]
          AND (g.was ->> 'batch')::bigint >= p_batches[i];
      IF NOT FOUND THEN kind := 'fenced'; END IF;
      v_first := (w ->> 'first')::bigint; v_last := (w ->> 'last')::bigint;
    ELSIF p_batches[i] <= l.batch THEN v_first := l.batch_first; v_last := l.head;
    ELSIF l.closed IS NOT NULL THEN kind := 'fenced';
    ELSIF p_batches[i] <> l.batch + 1 THEN kind := 'rolled back'; v_last := l.batch;
    ELSE
      x := coalesce(p_extras[i], '{}')::jsonb;
      v_first := l.head + 1; v_last := l.head + p_counts[i];
      SELECT row_to_json(r) INTO v_known FROM $S.run r WHERE r.session = l.session AND r.key = x -> 'opens' ->> 'key';
      IF v_known IS NOT NULL THEN
        kind := 'known'; v_last := l.head;
      ELSIF x ? 'records' AND NOT $S.change_records(x ->> 'home', x ->> 'scope', x ->> 'app', x ->> 'name', x -> 'records') THEN
        kind := 'stale'; v_last := l.head;
      ELSIF x ? 'erase' THEN
        PERFORM $S.drop_session(l.session);
        PERFORM $S.leave_notice(l.session, x ->> 'erase', l.term, x ->> 'notice', (x ->> 'noticeSize')::bigint, jsonb_build_object(
          'log', l.id, 'term', l.term, 'batch', p_batches[i], 'first', v_first, 'last', v_last));
      ELSE
        PERFORM $S.write(l, p_batches[i], p_counts[i], p_sizes[i], p_data[i], x);
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
  -- After the logs are locked: whoever begins to follow one now waits until this is committed.
  -- A batch that changed the log alone, and is short enough, is told with the news.
  PERFORM pg_notify('asg_' || n.node, CASE WHEN octet_length(n.news) < ${TOLD} THEN 'b' || n.key || ' ' || n.news ELSE 'w' || n.key END)
    FROM (
      SELECT f.node, f.key, a.epoch || ' ' || a.first || E'\\n' || a.data AS news
      FROM unnest(p_keys, v_epochs, v_firsts, p_data) AS a (key, epoch, first, data) JOIN $S.follower f ON f.key = a.key WHERE f.node <> me
    ) AS n;
END $f$;

CREATE FUNCTION $S.write(l $S.log, p_batch bigint, p_count int, p_size bigint, p_data text, x jsonb) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE v_first bigint := l.head + 1; v_now bigint := $S.now_ms();
BEGIN
  UPDATE $S.log g SET head = g.head + p_count, batch = p_batch, batch_first = v_first, size = g.size + p_size,
    status = coalesce(x ->> 'status', g.status), activity = coalesce(x ->> 'activity', g.activity),
    closed = CASE WHEN x ? 'close' THEN v_now END WHERE g.id = l.id;
  IF p_count > 0 THEN INSERT INTO $S.batch VALUES (l.id, l.head + p_count, v_first, p_size, p_data); END IF;
  IF x ? 'about' THEN
    UPDATE $S.session s SET used = greatest(s.used, (x ->> 'usedAt')::bigint), archived = (x ->> 'archived')::boolean,
      searched = x ->> 'searched', about = x ->> 'about' WHERE s.id = l.session;
  END IF;
  IF x ? 'opens' THEN
    INSERT INTO $S.run (session, run_id, key, hash, epoch, accepted, request)
      SELECT l.session, o ->> 'runId', o ->> 'key', o ->> 'hash', l.epoch, v_first + (o ->> 'offset')::bigint, o ->> 'request'
      FROM (SELECT x -> 'opens' AS o) AS opens;
  END IF;
  IF x ? 'messages' THEN
    UPDATE $S.log g SET size = g.size + $S.put_messages(l.id, x -> 'messages', ARRAY(SELECT jsonb_array_elements_text(x -> 'touched')))
      WHERE g.id = l.id;
  END IF;
  IF x ? 'rewrites' THEN PERFORM $S.rewrite(l.id, x); END IF;
  IF x ? 'said' THEN PERFORM $S.put_said(l.id, l.term, l.head + p_count, x -> 'said'); END IF;
  IF x ? 'steps' THEN
    INSERT INTO $S.step (session, run_id, n, name, outcome)
      SELECT l.session, t."runId", t.number, t.name, t.outcome
      FROM jsonb_to_recordset(x -> 'steps') AS t ("runId" text, number int, name text, outcome text)
      JOIN $S.run r ON r.session = l.session AND r.run_id = t."runId" AND r.request IS NOT NULL
    ON CONFLICT (session, run_id, n) DO UPDATE SET name = excluded.name, outcome = excluded.outcome;
  END IF;
  IF x ? 'ends' THEN
    UPDATE $S.run r SET request = NULL, result = e.result, ended = v_now,
      cursor = l.epoch || '.' || l.term || '.' || (v_first + e."offset")
      FROM jsonb_to_recordset(x -> 'ends') AS e ("runId" text, result text, "offset" bigint)
      WHERE r.session = l.session AND r.run_id = e."runId" AND r.request IS NOT NULL;
    DELETE FROM $S.step t USING jsonb_to_recordset(x -> 'ends') AS e ("runId" text)
      WHERE t.session = l.session AND t.run_id = e."runId";
  END IF;
  IF x ? 'close' THEN
    UPDATE $S.run r SET request = NULL, ended = v_now WHERE r.session = l.session AND r.request IS NOT NULL;
    DELETE FROM $S.step t WHERE t.session = l.session;
    UPDATE $S.session s SET open = NULL WHERE s.id = l.session;
    DELETE FROM $S.said d WHERE d.log = l.id;
  END IF;
END $f$;

-- Gives batches, and the checkpoint, another text.
CREATE FUNCTION $S.rewrite(p_log bigint, x jsonb) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE v_grown bigint;
BEGIN
  SELECT coalesce(sum(r.size - b.size), 0) INTO v_grown
    FROM jsonb_to_recordset(x -> 'rewrites') AS r (last bigint, size bigint) JOIN $S.batch b ON b.log = p_log AND b.last = r.last;
  UPDATE $S.batch b SET size = r.size, data = r.data FROM jsonb_to_recordset(x -> 'rewrites') AS r (last bigint, size bigint, data text)
    WHERE b.log = p_log AND b.last = r.last;
  UPDATE $S.log g SET size = g.size + v_grown WHERE g.id = p_log;
  UPDATE $S.checkpoint k SET data = x ->> 'checkpoint' FROM $S.log g
    WHERE k.log = p_log AND g.id = p_log AND g.first = (x ->> 'checkpointAt')::bigint + 1;
END $f$;

-- Keeps messages as rows; returns by how many characters the log grows. p_touched: ids of all rows that change, which are these messages and
-- their versions.
CREATE FUNCTION $S.put_messages(p_log bigint, p_messages jsonb, p_touched text[]) RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE v_before bigint; v_after bigint;
BEGIN
  SELECT coalesce(sum(m.size + m.version_size), 0) INTO v_before FROM $S.message m WHERE m.log = p_log AND m.id = ANY (p_touched);
  INSERT INTO $S.message AS m (log, id, parent, size, data, versions, version_count, version_size)
    SELECT p_log, x.id, x.parent, x.size, x.data, x.versions, coalesce(x.version_count, 0), coalesce(x.version_size, 0)
    FROM jsonb_to_recordset(p_messages)
      AS x (id text, parent text, size bigint, data text, versions text, version_count int, version_size int)
  ON CONFLICT (log, id) DO UPDATE SET n = nextval('$S.message_n'), parent = excluded.parent, size = excluded.size,
    data = excluded.data, versions = excluded.versions, version_count = excluded.version_count,
    version_size = excluded.version_size;
  -- The versions that one of them names know of it from then on.
  UPDATE $S.message m SET versions = v.versions, version_count = v.version_count, version_size = v.version_size
    FROM (
      SELECT DISTINCT ON (e.id) e.id, x.versions, x.version_count, x.version_size
      FROM jsonb_to_recordset(p_messages) AS x (versions text, version_count int, version_size int, "versionIds" jsonb),
        jsonb_array_elements_text(x."versionIds") AS e (id)
      ORDER BY e.id, x.version_count DESC
    ) AS v WHERE m.log = p_log AND m.id = v.id AND m.version_count < v.version_count;
  SELECT coalesce(sum(m.size + m.version_size), 0) INTO v_after FROM $S.message m WHERE m.log = p_log AND m.id = ANY (p_touched);
  RETURN v_after - v_before;
END $f$;

-- False: another writer took over.
CREATE FUNCTION $S.cut(p_log bigint, p_term bigint, p_seq bigint, p_checkpoint text, p_messages jsonb, p_touched text[])
RETURNS boolean LANGUAGE plpgsql AS $f$
DECLARE l $S.log; v_size bigint; v_first bigint := p_seq + 1;
BEGIN
  SELECT * INTO l FROM $S.log g WHERE g.id = p_log FOR UPDATE;
  IF NOT FOUND OR p_seq < l.first THEN RETURN true; END IF;
  IF l.term <> p_term THEN RETURN false; END IF;
  v_size := $S.put_messages(p_log, p_messages, p_touched);
  WITH cut AS (DELETE FROM $S.batch b WHERE b.log = p_log AND b.last <= p_seq RETURNING b.size)
    SELECT v_size - coalesce(sum(cut.size), 0) INTO v_size FROM cut;
  INSERT INTO $S.checkpoint AS k VALUES (p_log, p_checkpoint) ON CONFLICT (log) DO UPDATE SET data = excluded.data;
  -- The term in which the first retained event was written is still needed.
  WHILE cardinality(l.terms) > 2 AND l.terms[4] <= v_first LOOP l.terms := l.terms[3:]; END LOOP;
  UPDATE $S.log g SET first = v_first, head = greatest(g.head, p_seq), size = g.size + v_size, terms = l.terms WHERE g.id = p_log;
  RETURN true;
END $f$;

-- Batches behind a place: what a page needs of them, and little more.
CREATE FUNCTION $S.read(p_log bigint, p_after bigint, p_limit bigint, p_bytes bigint)
RETURNS TABLE (v_from bigint, v_first bigint, v_data text) LANGUAGE plpgsql STABLE AS $f$
DECLARE b record; v_count bigint := 0; v_size bigint := 0;
BEGIN
  SELECT greatest(p_after, g.first - 1) INTO v_from FROM $S.log g WHERE g.id = p_log;
  FOR b IN SELECT c.first, c.last, c.size, c.data FROM $S.batch c WHERE c.log = p_log AND c.last > v_from ORDER BY c.last LOOP
    v_first := b.first; v_data := b.data;
    RETURN NEXT;
    v_count := v_count + b.last - greatest(b.first - 1, v_from);
    v_size := v_size + b.size;
    EXIT WHEN v_count >= p_limit OR v_size >= p_bytes;
  END LOOP;
END $f$;
`;
