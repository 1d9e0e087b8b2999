import type { SqliteDatabase } from './driver.js';

/** A log, and columns of its session. */
const LOG = `l.id, l.session, l.epoch, l.user_id, l.created, l.closed, l.first, l.head, l.size, l.activity,
  s.used, s.archived, s.title, s.metadata, s.preview, s.messages, s.pending, s.failed, s.arrivals, s.forked_from`;
const OF_LOG = 'FROM log l JOIN session s ON s.id = l.session';
const RECORD = 'home, kind, id, owner, due, token, value';
const RUN = 'run_id, key, hash, epoch, accepted, request, result';

/** A page of open sessions, the last used first, of those that a condition selects. */
const listOf = (condition: string): string => `SELECT s.scope, s.app, s.name, s.open, ${LOG}
  FROM session s JOIN log l ON l.id = s.open
  WHERE ${condition} s.archived = ?1 AND s.open IS NOT NULL AND (s.used, s.open) < (?2, ?3)
    AND (?4 IS NULL OR iif(l.activity = 'idle', 'idle', json_extract(l.activity, '$.status')) = ?4)
    AND (?5 IS NULL OR instr(s.searched, ?5) > 0) AND s.failed >= ?7
  ORDER BY s.used DESC, s.open DESC LIMIT ?6`;

/** The statements of the store, each prepared once. */
export function prepareStatements(db: SqliteDatabase) {
  const sql = (text: string) => db.prepare(text);
  return {
    meta: sql('SELECT value FROM meta WHERE name = ?'),
    putMeta: sql('INSERT OR REPLACE INTO meta VALUES (?, ?)'),

    session: sql('SELECT id, log FROM session WHERE scope = ? AND app = ? AND name = ?'),
    putSession: sql('INSERT INTO session (scope, app, name, log) VALUES (?, ?, ?, 0) RETURNING id'),
    pointSession: sql(
      `UPDATE session SET log = ?1, open = ?1, used = ?2, forked_from = ?3, archived = 0, title = NULL, searched = NULL,
       metadata = NULL, preview = NULL, messages = 0, pending = 0, failed = 0, arrivals = NULL WHERE id = ?4`,
    ),
    putAbout: sql(
      `UPDATE session SET used = ?, archived = ?, title = ?, searched = ?, metadata = ?, preview = ?, messages = ?, pending = ?,
       failed = ?, arrivals = ? WHERE id = ?`,
    ),
    closeSession: sql('UPDATE session SET open = NULL WHERE id = ?'),
    listSessions: sql(listOf('s.scope = ?8 AND')),
    listAll: sql(listOf('')),
    keptSessions: sql(
      'SELECT app, name FROM session WHERE scope = ? AND (app, name) > (?, ?) ORDER BY app, name LIMIT ?',
    ),
    scopes: sql('SELECT DISTINCT scope FROM session'),
    recordHomes: sql('SELECT DISTINCT home FROM record'),
    countSessions: sql('SELECT count(*) AS n FROM session WHERE scope = ? AND open IS NOT NULL'),
    sizeOfScope: sql(
      'SELECT sum(l.size) AS n FROM session s JOIN log l ON l.session = s.id WHERE s.scope = ?',
    ),
    sizeOfSession: sql('SELECT sum(size) AS n FROM log WHERE session = ?'),
    unfinished: sql(
      `SELECT s.scope, s.app, s.name FROM session s JOIN log l ON l.id = s.open
       WHERE s.id IN (
         SELECT session FROM run WHERE request IS NOT NULL
         UNION SELECT session FROM log WHERE activity <> 'idle' AND closed IS NULL
       ) AND iif(l.activity = 'idle', NULL, json_extract(l.activity, '$.parked')) IS NULL ORDER BY s.open`,
    ),

    log: sql(`SELECT ${LOG} ${OF_LOG} WHERE l.id = ?`),
    logOfEpoch: sql(`SELECT ${LOG} ${OF_LOG} WHERE l.session = ? AND l.epoch = ?`),
    epochs: sql('SELECT epoch FROM log WHERE session = ? ORDER BY id'),
    putLog: sql(
      'INSERT INTO log (session, epoch, user_id, created, first, head) VALUES (?1, ?2, ?3, ?4, max(?5, 1), ?5) RETURNING id',
    ),
    moveHead: sql('UPDATE log SET head = ?, size = size + ? WHERE id = ?'),
    moveFirst: sql('UPDATE log SET first = ?1, head = max(head, ?1 - 1), size = size + ?2 WHERE id = ?3'),
    putActivity: sql('UPDATE log SET activity = ? WHERE id = ?'),
    eraseLog: sql('UPDATE log SET erased = 1 WHERE id = ?'),
    keptLog: sql(
      `SELECT l.id FROM session s JOIN log l ON l.id = s.log
       WHERE s.scope = ? AND s.app = ? AND s.name = ? AND l.erased = 0`,
    ),
    closeLog: sql('UPDATE log SET closed = ? WHERE id = ?'),

    terms: sql('SELECT term, first FROM term WHERE log = ? ORDER BY term'),
    putTerm: sql('INSERT INTO term VALUES (?, ?, ?)'),
    // The term in which the first retained event was written is still needed.
    cutTerms: sql(
      'DELETE FROM term WHERE log = ?1 AND term < (SELECT max(term) FROM term WHERE log = ?1 AND first <= ?2)',
    ),

    journal: sql('SELECT id, data FROM journal ORDER BY id'),
    putJournal: sql('INSERT INTO journal (id, data) VALUES (?, ?)'),
    clearJournal: sql('DELETE FROM journal WHERE id <= ?'),

    chunkAfter: sql('SELECT first, data FROM chunk WHERE log = ? AND last > ? ORDER BY last LIMIT 1'),
    putChunk: sql('INSERT INTO chunk VALUES (?, ?, ?, ?, ?)'),
    rewriteChunk: sql('UPDATE chunk SET data = ?, size = ? WHERE log = ? AND last = ?'),
    cutChunks: sql('DELETE FROM chunk WHERE log = ? AND last <= ? RETURNING size'),

    checkpoint: sql('SELECT data FROM checkpoint WHERE log = ?'),
    putCheckpoint: sql('INSERT OR REPLACE INTO checkpoint VALUES (?, ?)'),
    // The limit ends a circle, which no gateway makes.
    messages: sql(
      `WITH RECURSIVE path(row, parent, n) AS (
         SELECT rowid, parent, 1 FROM message WHERE log = ?1 AND id = ?2 AND ?3 > 0
         UNION ALL
         SELECT m.rowid, m.parent, n + 1 FROM path p JOIN message m ON m.log = ?1 AND m.id = p.parent WHERE n < ?3
       ) SELECT m.data FROM path p JOIN message m ON m.rowid = p.row ORDER BY p.n DESC`,
    ),
    message: sql('SELECT data FROM message WHERE log = ? AND id = ?'),
    // The row that was written last has the complete list of versions.
    reply: sql('SELECT data FROM message WHERE log = ? AND parent IS ? ORDER BY rowid DESC LIMIT 1'),
    sizeOfMessage: sql('SELECT size FROM message WHERE log = ? AND id = ?'),
    anyMessage: sql(
      'SELECT 1 FROM json_each(?2) i CROSS JOIN message m ON m.log = ?1 AND m.id = i.value LIMIT 1',
    ),
    putMessage: sql('INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)'),

    putSaid: sql(
      'INSERT INTO said (id, log, depth, message, role, at, seq, term, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    dropSaid: sql('DELETE FROM said WHERE log = ? AND depth IN (SELECT value FROM json_each(?))'),
    cutSaid: sql('DELETE FROM said WHERE log = ? AND depth >= ?'),
    lastSaid: sql(
      "SELECT max(coalesce((SELECT max(id) FROM said), 0), coalesce((SELECT value FROM meta WHERE name = 'said'), 0)) AS id",
    ),
    leftSaid: sql(
      `SELECT d.id, d.log, d.text, s.scope, s.app FROM said d JOIN log l ON l.id = d.log JOIN session s ON s.id = l.session
       WHERE d.id > coalesce((SELECT value FROM meta WHERE name = 'said'), 0) AND d.id < ?`,
    ),
    putFresh: sql(
      `INSERT INTO said_words (rowid, words) SELECT f.value ->> 0, f.value ->> 1 FROM json_each(?) f
       WHERE EXISTS (SELECT 1 FROM said WHERE id = f.value ->> 0)`,
    ),
    putWords: sql('INSERT INTO said_words (rowid, words) VALUES (?, ?)'),
    findSaid: sql(
      `SELECT d.id, d.message, d.role, d.at, d.seq, d.term, d.text, l.epoch, s.scope, s.app, s.name
       FROM said_words w CROSS JOIN said d ON d.id = w.rowid CROSS JOIN log l ON l.id = d.log CROSS JOIN session s ON s.id = l.session
       WHERE w.said_words MATCH ? AND w.rowid < ? AND l.closed IS NULL ORDER BY w.rowid DESC LIMIT ?`,
    ),

    openRuns: sql(`SELECT ${RUN} FROM run WHERE session = ? AND request IS NOT NULL ORDER BY accepted`),
    run: sql(`SELECT ${RUN} FROM run WHERE run_id = ? AND session = ?`),
    runOfKey: sql(`SELECT ${RUN} FROM run WHERE session = ? AND key = ?`),
    putRun: sql(
      'INSERT INTO run (run_id, session, key, hash, epoch, accepted, request) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    endRun: sql(
      'UPDATE run SET request = NULL, result = ?, ended = ? WHERE run_id = ? AND session = ? AND request IS NOT NULL',
    ),
    steps: sql('SELECT run_id, n, name, outcome FROM step WHERE session = ? ORDER BY run_id, n'),
    putStep: sql(
      `INSERT OR REPLACE INTO step SELECT session, run_id, ?3, ?4, ?5 FROM run
       WHERE run_id = ?1 AND session = ?2 AND request IS NOT NULL`,
    ),
    record: sql(`SELECT ${RECORD} FROM record WHERE home = ? AND kind = ? AND id = ?`),
    putRecord: sql(`INSERT OR REPLACE INTO record (${RECORD}) VALUES (?, ?, ?, ?, ?, ?, ?)`),
    dropRecord: sql('DELETE FROM record WHERE home = ? AND kind = ? AND id = ?'),
    dropRecords: sql('DELETE FROM record WHERE home = ?'),
    recordsOfHome: sql(
      `SELECT ${RECORD} FROM record WHERE home = ?1 AND (kind, id) > (?2, ?3) AND (?4 IS NULL OR kind = ?4)
       ORDER BY kind, id LIMIT ?5`,
    ),
    recordsOfOwner: sql(
      `SELECT ${RECORD} FROM record WHERE owner = ? AND kind = ? AND (home, id) > (?, ?) ORDER BY home, id LIMIT ?`,
    ),
    recordsDue: sql(`SELECT ${RECORD} FROM record WHERE due <= ? ORDER BY due LIMIT ?`),
    takeRecord: sql('UPDATE record SET due = ?, token = ? WHERE home = ? AND kind = ? AND id = ?'),
    nextDue: sql('SELECT min(due) AS due FROM record WHERE due IS NOT NULL'),
    endRuns: sql('UPDATE run SET request = NULL, ended = ? WHERE session = ? AND request IS NOT NULL'),
  };
}

export type Statements = ReturnType<typeof prepareStatements>;
