/**
 * The tables. Text that people can choose (scopes, names, keys, ids) is escaped as in JSON, because PostgreSQL takes no NUL. JSON itself is
 * text that SQL never looks into.
 *
 * Rows are locked in one order: a log, then its session. Several logs are locked by ascending ids.
 */
export const TABLES = `
CREATE FUNCTION $S.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
  'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

CREATE TABLE $S.session (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,   -- hash of scope, app and name
  scope text COLLATE "C" NOT NULL, app text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
  log bigint,                             -- the present log, also once it is closed
  open bigint,                            -- the same while it is open: the order of lists
  used bigint NOT NULL DEFAULT 0,
  archived boolean NOT NULL DEFAULT false,
  searched text COLLATE "C",              -- the title, as it is looked for
  about text NOT NULL DEFAULT '{"messageCount":0,"pending":0}',
  forked_from text
);
CREATE INDEX session_listed ON $S.session (scope, archived, used, open) WHERE open IS NOT NULL;
CREATE INDEX session_of_all ON $S.session (archived, used, open) WHERE open IS NOT NULL;
CREATE INDEX session_kept ON $S.session (scope, app, name);

-- Changed with every append: there is room for that in its page, and no index on what changes.
CREATE TABLE $S.log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session bigint NOT NULL, epoch text COLLATE "C" NOT NULL,
  user_id text, created bigint NOT NULL, closed bigint,
  first bigint NOT NULL DEFAULT 1, head bigint NOT NULL DEFAULT 0,
  size bigint NOT NULL DEFAULT 0,         -- of events and messages, in characters
  term bigint NOT NULL,                   -- that may write; 0 once another log took its place
  terms bigint[] NOT NULL,                -- term, first, term, first, ...
  holder text NOT NULL DEFAULT '',
  batch bigint NOT NULL DEFAULT 0,        -- number of the last one of the present term
  batch_first bigint NOT NULL DEFAULT 1,
  status text NOT NULL DEFAULT 'idle',
  activity text NOT NULL DEFAULT '{"status":"idle","queued":0}',
  was jsonb,                              -- the last batch of a log that was erased, which this one took the place of
  UNIQUE (session, epoch)
) WITH (fillfactor = 50);
CREATE INDEX log_closed ON $S.log (closed) WHERE closed IS NOT NULL;
CREATE INDEX log_held ON $S.log (holder, session) WHERE holder <> '' AND closed IS NULL;
CREATE INDEX log_busy ON $S.log (session) WHERE status <> 'idle' AND closed IS NULL;

CREATE TABLE $S.batch (
  log bigint, last bigint, first bigint NOT NULL,
  size bigint NOT NULL,                   -- of its events' bodies, in characters
  data text NOT NULL, PRIMARY KEY (log, last)
);
CREATE TABLE $S.checkpoint (log bigint PRIMARY KEY, data text NOT NULL);

CREATE SEQUENCE $S.message_n;
CREATE TABLE $S.message (
  log bigint, id text COLLATE "C", parent text COLLATE "C",
  n bigint NOT NULL DEFAULT nextval('$S.message_n'),   -- order of writing
  size bigint NOT NULL,                   -- of data, in characters
  data text NOT NULL,                     -- without versions
  versions text, version_count int NOT NULL DEFAULT 0, version_size int NOT NULL DEFAULT 0,
  PRIMARY KEY (log, id)
);
CREATE INDEX message_parent ON $S.message (log, parent, n);

CREATE TABLE $S.run (
  session bigint, run_id text COLLATE "C",
  key text COLLATE "C", hash text,        -- of the send, where it had a key
  epoch text NOT NULL, accepted bigint NOT NULL,
  request text,                           -- what it takes to start it again, while it has not ended
  result text, cursor text, ended bigint,
  PRIMARY KEY (session, run_id)
);
CREATE UNIQUE INDEX run_key ON $S.run (session, key) WHERE key IS NOT NULL;
CREATE INDEX run_open ON $S.run (session, accepted) WHERE request IS NOT NULL;
CREATE INDEX run_ended ON $S.run (ended) WHERE ended IS NOT NULL;

CREATE TABLE $S.step (
  session bigint, run_id text COLLATE "C", n int,
  name text NOT NULL, outcome text,       -- NULL: it has only begun
  PRIMARY KEY (session, run_id, n)
);

-- Typed rows beside the logs, of a session or a scope. Locked one after another by the home they have in common.
CREATE TABLE $S.record (
  home text COLLATE "C", kind text COLLATE "C", id text COLLATE "C",   -- home: hash of what it is
  scope text NOT NULL, app text, name text,
  owner text COLLATE "C", due bigint,
  token bigint NOT NULL,                  -- another one each time it is put or taken
  value text NOT NULL, PRIMARY KEY (home, kind, id)
);
CREATE INDEX record_due ON $S.record (due) WHERE due IS NOT NULL;
CREATE INDEX record_owner ON $S.record (owner, kind, home, id) WHERE owner IS NOT NULL;

-- Gateways that use the store, and who they are to one another.
CREATE TABLE $S.node (id text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL);
CREATE TABLE $S.member (holder text COLLATE "C" PRIMARY KEY, node text NOT NULL);
-- What a crash of the server may take: those who need it say it again once they are connected again.
CREATE UNLOGGED TABLE $S.follower (key text COLLATE "C", node text COLLATE "C", PRIMARY KEY (key, node));
CREATE INDEX follower_node ON $S.follower (node);
CREATE UNLOGGED TABLE $S.mail (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, node text COLLATE "C" NOT NULL, holder text NOT NULL, data text NOT NULL
);
CREATE INDEX mail_node ON $S.mail (node, id);
`;
