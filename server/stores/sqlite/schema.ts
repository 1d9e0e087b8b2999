/** Marks a file as ours: `ASGW`. */
export const APPLICATION_ID = 0x41534757;

/**
 * The steps from one version of the schema to the next; the file's `user_version` says how many it has taken. Steps that were
 * released are never changed.
 *
 * Events come first into `journal`, one row for everything an event-loop turn appended in all sessions, because a row a session
 * would write a page each. They move from there into `chunk`, many events of one log to a row.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

  CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL, app TEXT NOT NULL, name TEXT NOT NULL,
    log INTEGER NOT NULL,           -- the present log, also once it is closed
    open INTEGER,                   -- the same while it is open: the order of lists
    UNIQUE (scope, app, name)
  );
  CREATE INDEX session_open ON session (scope, open) WHERE open IS NOT NULL;

  CREATE TABLE log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL, epoch TEXT NOT NULL,
    user_id TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL, closed INTEGER,
    first INTEGER NOT NULL, head INTEGER NOT NULL,   -- of what is in chunks; the journal may have more
    UNIQUE (session, epoch)
  );
  CREATE INDEX log_closed ON log (closed) WHERE closed IS NOT NULL;

  CREATE TABLE term (log INTEGER, term INTEGER, first INTEGER NOT NULL, PRIMARY KEY (log, term)) WITHOUT ROWID;
  CREATE TABLE journal (id INTEGER PRIMARY KEY, data TEXT NOT NULL);
  CREATE TABLE chunk (log INTEGER, first INTEGER NOT NULL, last INTEGER, data TEXT NOT NULL, PRIMARY KEY (log, last));
  CREATE TABLE checkpoint (log INTEGER PRIMARY KEY, data TEXT NOT NULL);
  CREATE TABLE message (log INTEGER, n INTEGER, data TEXT NOT NULL, PRIMARY KEY (log, n));
  CREATE TABLE run (log INTEGER, n INTEGER, run_id TEXT, request TEXT NOT NULL, PRIMARY KEY (log, run_id)) WITHOUT ROWID;

  CREATE TABLE sent (
    session INTEGER, key TEXT, hash TEXT NOT NULL, run_id TEXT NOT NULL,
    epoch TEXT NOT NULL, seq INTEGER NOT NULL, result TEXT, at INTEGER NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  CREATE INDEX sent_at ON sent (at);
  `,
  `
  ALTER TABLE log ADD COLUMN size INTEGER NOT NULL DEFAULT 0;     -- of what is in chunks and messages
  ALTER TABLE chunk ADD COLUMN size INTEGER NOT NULL DEFAULT 0;   -- of its events' bodies, in characters
  UPDATE chunk SET size = length(data);
  UPDATE log SET size = (SELECT coalesce(sum(size), 0) FROM chunk WHERE log = log.id)
    + (SELECT coalesce(sum(length(data)), 0) FROM message WHERE log = log.id);
  `,
  `
  ALTER TABLE log ADD COLUMN activity TEXT;   -- what its session is doing: 'idle', or JSON; NULL: its writer never said
  CREATE INDEX log_busy ON log (session) WHERE activity <> 'idle';
  `,
  `
  ALTER TABLE run RENAME TO open_run;
  CREATE TABLE run (
    run_id TEXT, session INTEGER,
    key TEXT, hash TEXT,              -- of the send, where it had a key
    epoch TEXT NOT NULL, accepted INTEGER NOT NULL,
    request TEXT,                     -- what it takes to start it again, while it has not ended
    result TEXT, ended INTEGER,
    PRIMARY KEY (run_id, session)
  ) WITHOUT ROWID;
  INSERT INTO run
    SELECT s.run_id, s.session, s.key, s.hash, s.epoch, s.seq, o.request, s.result, iif(o.request IS NULL, s.at, NULL)
    FROM sent s LEFT JOIN log l ON l.session = s.session AND l.epoch = s.epoch
    LEFT JOIN open_run o ON o.log = l.id AND o.run_id = s.run_id;
  INSERT OR IGNORE INTO run
    SELECT o.run_id, l.session, NULL, NULL, l.epoch, o.n, o.request, NULL, NULL
    FROM open_run o JOIN log l ON l.id = o.log;
  DROP TABLE open_run;
  DROP TABLE sent;
  CREATE UNIQUE INDEX run_key ON run (session, key) WHERE key IS NOT NULL;
  CREATE INDEX run_open ON run (session, accepted) WHERE request IS NOT NULL;
  CREATE INDEX run_ended ON run (ended) WHERE ended IS NOT NULL;
  CREATE INDEX run_session ON run (session);
  `,
  // Messages by their ids, each after the one it follows. Later ones of an id that was used twice get their number behind it.
  `
  ALTER TABLE message RENAME TO message_by_number;
  CREATE TABLE message (
    log INTEGER, id TEXT, parent TEXT,
    size INTEGER NOT NULL,   -- of data, in characters
    data TEXT NOT NULL, PRIMARY KEY (log, id)
  );
  INSERT OR IGNORE INTO message
    WITH
      given AS (SELECT log, n, json_extract(data, '$.id') AS id FROM message_by_number),
      counted AS (SELECT *, row_number() OVER (PARTITION BY log, id ORDER BY n) AS copy FROM given),
      named AS (SELECT log, n, iif(copy = 1, id, id || '#' || n) AS id FROM counted),
      path AS (SELECT *, lag(id) OVER (PARTITION BY log ORDER BY n) AS parent FROM named)
    SELECT p.log, p.id, p.parent, 0, json_set(m.data, '$.id', p.id, '$.parentId', p.parent)
    FROM path p JOIN message_by_number m ON m.log = p.log AND m.n = p.n ORDER BY p.log, p.n;
  DROP TABLE message_by_number;
  UPDATE message SET size = length(data);
  UPDATE log SET size = (SELECT coalesce(sum(size), 0) FROM chunk WHERE log = log.id)
    + (SELECT coalesce(sum(size), 0) FROM message WHERE log = log.id);
  UPDATE checkpoint SET data = json_remove(
    json_set(data, '$.state.tip', (SELECT id FROM message m WHERE m.log = checkpoint.log ORDER BY rowid DESC LIMIT 1)),
    '$.messageCount'
  );
  UPDATE checkpoint SET data = json_set(
    data, '$.state.hasMore', json(iif(json_extract(data, '$.state.tip') IS NULL, 'false', 'true'))
  );
  UPDATE checkpoint SET data = json_set(data, '$.state.run.message.parentId', json_extract(data, '$.state.tip'))
    WHERE json_type(data, '$.state.run') = 'object';
  `,
  // Steps of open runs. What ends a run, one way or another, drops them.
  `
  CREATE TABLE step (
    session INTEGER, run_id TEXT, n INTEGER,
    name TEXT NOT NULL,
    outcome TEXT,   -- NULL: it has only begun
    PRIMARY KEY (session, run_id, n)
  );
  CREATE TRIGGER run_over AFTER UPDATE OF request ON run WHEN NEW.request IS NULL BEGIN
    DELETE FROM step WHERE session = NEW.session AND run_id = NEW.run_id;
  END;
  CREATE TRIGGER run_gone AFTER DELETE ON run BEGIN
    DELETE FROM step WHERE session = OLD.session AND run_id = OLD.run_id;
  END;
  `,
  // What lists say of sessions, in the order of their last use. Checkpoints count the messages of their paths.
  `
  ALTER TABLE session ADD COLUMN used INTEGER NOT NULL DEFAULT 0;       -- when it was last used
  ALTER TABLE session ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE session ADD COLUMN title TEXT;
  ALTER TABLE session ADD COLUMN searched TEXT;      -- the title, as it is looked for
  ALTER TABLE session ADD COLUMN metadata TEXT;
  ALTER TABLE session ADD COLUMN preview TEXT;
  ALTER TABLE session ADD COLUMN messages INTEGER;   -- of the path that is shown; NULL: its writer never said
  ALTER TABLE session ADD COLUMN pending INTEGER;
  ALTER TABLE session ADD COLUMN forked_from TEXT;
  UPDATE session SET used = coalesce((SELECT updated FROM log WHERE id = session.log), 0);
  ALTER TABLE log DROP COLUMN updated;
  DROP INDEX session_open;
  CREATE INDEX message_parent ON message (log, parent);
  CREATE INDEX session_listed ON session (scope, archived, used, open) WHERE open IS NOT NULL;
  UPDATE checkpoint SET data = json_set(data, '$.state.messageCount', (
    WITH RECURSIVE path(id, parent) AS (
      SELECT id, parent FROM message m
        WHERE m.log = checkpoint.log AND m.id = json_extract(checkpoint.data, '$.state.tip')
      UNION
      SELECT m.id, m.parent FROM path p JOIN message m ON m.log = checkpoint.log AND m.id = p.parent
    ) SELECT count(*) FROM path
  ));
  `,
  // Chunks may be compressed, which are blobs then; those that are not yet are found.
  `
  CREATE INDEX chunk_loose ON chunk (log, last) WHERE typeof(data) = 'text';
  `,
];
