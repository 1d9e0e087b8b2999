import { searched } from '../about.js';
import { decodeEvents, EventReader } from '../event-text.js';
import type { ListFilter, ListPage, PageOptions } from '../listing.js';
import type { PathOptions } from '../store.js';
import type {
  Checkpoint,
  LeftRun,
  LogHead,
  LogRef,
  MessageRow,
  RunName,
  RunRecord,
  SessionRecord,
  SessionRef,
  StoredEvent,
} from '../stored.js';
import { fromColumn, toColumn } from '../text-column.js';
import type { PostgresDatabase } from './database.js';
import type { PostgresRow } from './driver.js';
import { headOf, LOG, messageOf, RUN, recordOf, refOf, runOf } from './rows.js';
import type { SessionIds } from './sessions.js';

/** Exceeds every page, path and size. */
const ALL = Number.MAX_SAFE_INTEGER;
/** Characters of events that are read at once. */
const BYTES = 1 << 20;

/** A session with unfinished work that no living gateway holds. */
export interface Unfinished extends SessionRef {
  readonly from: string;
  /** Whether its former holder has not left, as far as the server knows. */
  readonly known: boolean;
  /** The server's time, in milliseconds since the epoch. */
  readonly now: number;
}

/** Reads committed data, each call with one statement. */
export class PostgresReader {
  readonly #database: PostgresDatabase;
  readonly #sessions: SessionIds;

  constructor(database: PostgresDatabase, sessions: SessionIds) {
    this.#database = database;
    this.#sessions = sessions;
  }

  /** The present log of a session with its session, or the log of an epoch. */
  async log(ref: SessionRef, epoch?: string): Promise<PostgresRow | null> {
    const which = epoch === undefined ? 'l.id = s.log' : 'l.session = s.id AND l.epoch = $2';
    const query = `SELECT ${LOG} FROM $S.session s JOIN $S.log l ON ${which} WHERE s.key = $1`;
    const values = epoch === undefined ? [] : [toColumn(epoch)];
    return this.#database.first(query, this.#sessions.keyOf(ref), ...values);
  }

  async head(ref: SessionRef, epoch?: string): Promise<LogHead | null> {
    const row = await this.log(ref, epoch);
    return row && headOf(row);
  }

  async record(ref: SessionRef): Promise<SessionRecord | null> {
    const row = await this.log(ref);
    return row && recordOf(row);
  }

  async conversations(ref: SessionRef): Promise<readonly string[]> {
    const query =
      'SELECT l.epoch FROM $S.session s JOIN $S.log l ON l.session = s.id WHERE s.key = $1 ORDER BY l.id';
    return (await this.#database.ask(query, this.#sessions.keyOf(ref))).map(({ epoch }) => epoch as string);
  }

  async read(ref: LogRef, after: number, limit: number, bytes: number): Promise<readonly StoredEvent[]> {
    const id = await this.#sessions.idOf(ref);
    if (id === null) return [];
    const query = 'SELECT * FROM $S.read($1, $2, $3, $4)';
    const rows = await this.#database.ask(query, id, after, Math.min(limit, ALL), Math.min(bytes, ALL));
    const events: StoredEvent[] = [];
    let size = 0;
    for (const { v_from: from, v_first: first, v_data: data } of rows) {
      const reader = new EventReader(data, first);
      for (let seq = first as number; seq <= from; seq++) reader.skip();
      while (!reader.done && events.length < limit && size < bytes) {
        const event = reader.next();
        events.push(event);
        size += event.body.length;
      }
    }
    return events;
  }

  /** Batches behind a place, whole, up to another place. */
  async batches(log: number, after: number, upTo: number): Promise<readonly (readonly StoredEvent[])[]> {
    const batches: (readonly StoredEvent[])[] = [];
    for (let place = after; place < upTo; ) {
      const rows = await this.#database.ask('SELECT * FROM $S.read($1, $2, $3, $4)', log, place, ALL, BYTES);
      if (rows.length === 0) break;
      for (const { v_first: first, v_data: data } of rows) batches.push(decodeEvents(data, first));
      place = batches.at(-1)!.at(-1)!.seq;
    }
    return batches;
  }

  async run(ref: SessionRef, name: RunName): Promise<RunRecord | null> {
    const [column, value] = 'runId' in name ? ['run_id', name.runId] : ['key', name.key];
    const query = `SELECT ${RUN} FROM $S.session s JOIN $S.run r ON r.session = s.id WHERE s.key = $1 AND r.${column} = $2`;
    const row = await this.#database.first(query, this.#sessions.keyOf(ref), toColumn(value));
    return row && runOf(row);
  }

  /** The runs of a session that have not ended, with their steps. */
  async openRuns(session: number): Promise<readonly LeftRun[]> {
    const query = `SELECT ${RUN}, (
        SELECT json_agg(json_build_object('number', t.n, 'name', t.name, 'outcome', t.outcome) ORDER BY t.n)
        FROM $S.step t WHERE t.session = r.session AND t.run_id = r.run_id
      ) AS steps FROM $S.run r WHERE r.session = $1 AND r.request IS NOT NULL ORDER BY r.accepted`;
    return (await this.#database.ask(query, session)).map((row) => {
      const run = runOf(row);
      if (!row.steps) return run;
      const steps = (row.steps as PostgresRow[]).map(({ number, name, outcome }) => ({
        runId: run.runId,
        number: number as number,
        name: fromColumn(name),
        ...(outcome !== null && { outcome: outcome as string }),
      }));
      return { ...run, steps };
    });
  }

  async openRunsOf(ref: SessionRef): Promise<readonly LeftRun[]> {
    const row = await this.#database.first(
      'SELECT id FROM $S.session WHERE key = $1',
      this.#sessions.keyOf(ref),
    );
    return row ? this.openRuns(row.id as number) : [];
  }

  async checkpoint(ref: LogRef): Promise<Checkpoint | null> {
    const id = await this.#sessions.idOf(ref);
    const row = await this.#database.first('SELECT data FROM $S.checkpoint WHERE log = $1', id);
    return row && (JSON.parse(row.data) as Checkpoint);
  }

  async messages(ref: LogRef, { tip, limit }: PathOptions): Promise<readonly MessageRow[]> {
    const id = await this.#sessions.idOf(ref);
    if (id === null) return [];
    // The limit ends a circle, which no gateway makes.
    const query = `WITH RECURSIVE path(id, parent, n) AS (
        SELECT m.id, m.parent, 1 FROM $S.message m WHERE m.log = $1 AND m.id = $2 AND $3::bigint > 0
        UNION ALL
        SELECT m.id, m.parent, p.n + 1 FROM path p JOIN $S.message m ON m.log = $1 AND m.id = p.parent WHERE p.n < $3::bigint
      ) SELECT m.data, m.versions FROM path p JOIN $S.message m ON m.log = $1 AND m.id = p.id ORDER BY p.n DESC`;
    return (await this.#database.ask(query, id, toColumn(tip), limit)).map(messageOf);
  }

  async replies(ref: LogRef, parent: string | null): Promise<readonly string[]> {
    const id = await this.#sessions.idOf(ref);
    // The row that was written last has the complete list of versions.
    const query =
      'SELECT id, versions FROM $S.message WHERE log = $1 AND parent IS NOT DISTINCT FROM $2 ORDER BY n DESC LIMIT 1';
    const row = await this.#database.first(query, id, parent === null ? null : toColumn(parent));
    if (!row) return [];
    return row.versions === null ? [fromColumn(row.id)] : (JSON.parse(row.versions) as string[]);
  }

  async list(
    scope: string | null,
    { limit, before }: PageOptions,
    filter: ListFilter = {},
  ): Promise<ListPage> {
    const { archived = false, status = null, failed = false, query } = filter;
    const text = `SELECT ${LOG}, s.open FROM $S.session s JOIN $S.log l ON l.id = s.open
      WHERE ${scope === null ? '' : 's.scope = $8 AND'} s.archived = $1 AND s.open IS NOT NULL AND (s.used, s.open) < ($2::bigint, $3::bigint)
        AND ($4::text IS NULL OR l.status = $4) AND ($5::text IS NULL OR strpos(s.searched, $5) > 0)
        AND (NOT $7 OR starts_with(s.about, '{"failed":true'))
      ORDER BY s.used DESC, s.open DESC LIMIT $6`;
    const rows = await this.#database.ask(
      text,
      archived,
      before?.updatedAt ?? ALL,
      before?.ordinal ?? 0,
      status,
      query ? toColumn(searched(query)) : null,
      limit + 1,
      failed,
      ...(scope === null ? [] : [toColumn(scope)]),
    );
    const last = rows[limit - 1];
    const next =
      rows.length > limit ? { updatedAt: last!.used as number, ordinal: last!.open as number } : null;
    return { records: rows.slice(0, limit).map(recordOf), next };
  }

  async count(scope: string): Promise<number> {
    const query = 'SELECT count(*) AS n FROM $S.session WHERE scope = $1 AND open IS NOT NULL';
    return (await this.#database.first(query, toColumn(scope)))!.n as number;
  }

  /** Open sessions with unfinished work that no living gateway holds, and their former holders. */
  async unfinished(leaseMs: number): Promise<readonly Unfinished[]> {
    const query = `SELECT s.scope, s.app, s.name, l.holder, EXISTS (SELECT FROM $S.member m WHERE m.holder = l.holder) AS known,
        $S.now_ms() AS now
      FROM $S.session s JOIN $S.log l ON l.id = s.open WHERE s.id IN (
        SELECT r.session FROM $S.run r WHERE r.request IS NOT NULL
        UNION SELECT g.session FROM $S.log g WHERE g.status <> 'idle' AND g.closed IS NULL
      ) AND l.activity::json ->> 'parked' IS NULL AND NOT EXISTS (SELECT FROM $S.living($1) v WHERE v.holder = l.holder) ORDER BY s.open`;
    return (await this.#database.ask(query, leaseMs)).map((row) => ({
      ...refOf(row),
      from: fromColumn(row.holder),
      known: row.known,
      now: row.now,
    }));
  }

  async scopes(): Promise<readonly string[]> {
    const query = 'SELECT scope FROM $S.session UNION SELECT scope FROM $S.record';
    return (await this.#database.ask(query)).map(({ scope }) => fromColumn(scope));
  }

  async kept(
    scope: string,
    { limit, after }: { readonly limit: number; readonly after?: SessionRef },
  ): Promise<readonly SessionRef[]> {
    const query =
      'SELECT scope, app, name FROM $S.session WHERE scope = $1 AND (app, name) > ($2, $3) ORDER BY app, name LIMIT $4';
    const { app = '', name = '' } = after ?? {};
    return (await this.#database.ask(query, toColumn(scope), toColumn(app), toColumn(name), limit)).map(
      refOf,
    );
  }
}
