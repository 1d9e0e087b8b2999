/** Marks a file as ours: `ASGW`. */
export const APPLICATION_ID = 0x41534757;

/** The file's `user_version`: changed with the schema. */
export const SCHEMA_VERSION = 17;

/**
 * The schema. Events first go into `journal`, one row for the appends of all sessions in an event-loop turn: one row a session would write
 * a page each. They move from there into `chunk`, many events of one log to a row. Text that people can choose (scopes, names, titles, keys,
 * ids) is escaped as in JSON by `toColumn`: SQLite ends a text at a NUL, and its drivers replace half a character.
 */
export const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

  CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL, app TEXT NOT NULL, name TEXT NOT NULL,
    log INTEGER NOT NULL,                  -- the present log, also once it is closed
    open INTEGER,                          -- the same while it is open: the order of lists
    used INTEGER NOT NULL DEFAULT 0,       -- when it was last used
    archived INTEGER NOT NULL DEFAULT 0,
    title TEXT, searched TEXT,             -- the title, and how it is looked for
    metadata TEXT, preview TEXT,
    messages INTEGER NOT NULL DEFAULT 0,   -- of the path that is shown
    pending INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,     -- 1: the last message is an answer that failed
    arrivals TEXT,                         -- JSON
    forked_from TEXT,
    UNIQUE (scope, app, name)
  );
  CREATE INDEX session_listed ON session (scope, archived, used, open) WHERE open IS NOT NULL;
  CREATE INDEX session_of_all ON session (archived, used, open) WHERE open IS NOT NULL;

  CREATE TABLE log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL, epoch TEXT NOT NULL,
    user_id TEXT, created INTEGER NOT NULL, closed INTEGER,
    erased INTEGER NOT NULL DEFAULT 0,               -- 1: all that is left of an erased session
    first INTEGER NOT NULL, head INTEGER NOT NULL,   -- of what is in chunks; the journal may have more
    size INTEGER NOT NULL DEFAULT 0,                 -- of what is in chunks and messages
    activity TEXT NOT NULL DEFAULT 'idle',           -- what its session is doing: 'idle', or JSON
    UNIQUE (session, epoch)
  );
  CREATE INDEX log_closed ON log (closed) WHERE closed IS NOT NULL;
  CREATE INDEX log_busy ON log (session) WHERE activity <> 'idle';

  CREATE TABLE term (log INTEGER, term INTEGER, first INTEGER NOT NULL, PRIMARY KEY (log, term)) WITHOUT ROWID;
  CREATE TABLE journal (id INTEGER PRIMARY KEY, data TEXT NOT NULL);
  CREATE TABLE chunk (
    log INTEGER, first INTEGER NOT NULL, last INTEGER,
    data NOT NULL,                         -- a blob once it is compressed
    size INTEGER NOT NULL,                 -- of its events' bodies, in characters
    PRIMARY KEY (log, last)
  );
  CREATE INDEX chunk_loose ON chunk (log, last) WHERE typeof(data) = 'text';
  -- Tables with rows that are left of logs that are gone, and with texts of logs that are closed.
  CREATE TABLE dropped (log INTEGER, part TEXT, PRIMARY KEY (log, part)) WITHOUT ROWID;
  CREATE TABLE checkpoint (log INTEGER PRIMARY KEY, data TEXT NOT NULL);

  CREATE TABLE message (
    log INTEGER, id TEXT, parent TEXT,
    size INTEGER NOT NULL,                 -- of data, in characters
    data TEXT NOT NULL, PRIMARY KEY (log, id)
  );
  CREATE INDEX message_parent ON message (log, parent);

  -- What open conversations show, one row a message that has text, and the words of it. The words of the last few are written later.
  CREATE TABLE said (
    id INTEGER PRIMARY KEY,                -- never given twice once it has words
    log INTEGER NOT NULL, depth INTEGER NOT NULL,
    message TEXT NOT NULL, role TEXT NOT NULL, at INTEGER NOT NULL,
    seq INTEGER NOT NULL, term INTEGER NOT NULL,
    text TEXT NOT NULL, UNIQUE (log, depth)
  );
  CREATE VIRTUAL TABLE said_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
  );
  CREATE TRIGGER said_gone AFTER DELETE ON said BEGIN
    DELETE FROM said_words WHERE rowid = OLD.id;
  END;

  CREATE TABLE run (
    run_id TEXT, session INTEGER,
    key TEXT, hash TEXT,                   -- of the send, where it had a key
    epoch TEXT NOT NULL, accepted INTEGER NOT NULL,
    request TEXT,                          -- what it takes to start it again, while it has not ended
    result TEXT, ended INTEGER,
    PRIMARY KEY (session, run_id)
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX run_key ON run (session, key) WHERE key IS NOT NULL;
  CREATE INDEX run_open ON run (session, accepted) WHERE request IS NOT NULL;
  CREATE INDEX run_ended ON run (ended) WHERE ended IS NOT NULL;

  -- Steps of open runs. What ends a run, one way or another, drops them.
  CREATE TABLE step (
    session INTEGER, run_id TEXT, n INTEGER,
    name TEXT NOT NULL,
    outcome TEXT,                          -- NULL: it has only begun
    PRIMARY KEY (session, run_id, n)
  );
  -- Typed rows beside the logs: of a session or a scope, by the text of that.
  CREATE TABLE record (
    home TEXT, kind TEXT, id TEXT,
    owner TEXT, due INTEGER,
    token INTEGER NOT NULL,                -- another one each time it is put or taken
    value TEXT NOT NULL, PRIMARY KEY (home, kind, id)
  ) WITHOUT ROWID;
  CREATE INDEX record_due ON record (due) WHERE due IS NOT NULL;
  CREATE INDEX record_owner ON record (owner, kind, home, id) WHERE owner IS NOT NULL;
  CREATE TRIGGER run_over AFTER UPDATE OF request ON run WHEN NEW.request IS NULL BEGIN
    DELETE FROM step WHERE session = NEW.session AND run_id = NEW.run_id;
  END;
  CREATE TRIGGER run_gone AFTER DELETE ON run BEGIN
    DELETE FROM step WHERE session = OLD.session AND run_id = OLD.run_id;
  END;
`;
