import { type AppendOptions, type AppendResult, type EventRecord, type News, StoreError } from '../append.js';
import type { ListFilter, ListPage, PageOptions } from '../listing.js';
import type { SaidPage, SaidQuery } from '../said.js';
import type { SharedStore } from '../shared-store.js';
import type { Acquired, AcquireOptions, PathOptions, Store } from '../store.js';
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
  StoredSize,
} from '../stored.js';
import { fromColumn, toColumn } from '../text-column.js';
import { Appends } from './appends.js';
import { PostgresDatabase } from './database.js';
import { openFailure, unknown } from './faults.js';
import { Node } from './node.js';
import { type PostgresSettings, type PostgresStoreOptions, settingsOf } from './options.js';
import { prepareSchema } from './prepare-schema.js';
import { PostgresReader } from './reader.js';
import { PostgresRecords } from './records.js';
import { rewriteBatches } from './rewriting.js';
import { beginningOf, headOf, messagesToPut, recordOf } from './rows.js';
import { findSaid } from './said.js';
import { SessionIds } from './sessions.js';
import { sharedPart } from './shared.js';
import { PostgresUsage } from './usage.js';

/** The number of rows that one call of `expire` drops. */
const SLICE = 200;
/** Tables that hold data of people. */
const TABLES = [
  'batch',
  'checkpoint',
  'message',
  'run',
  'step',
  'session',
  'log',
  'meta',
  'mail',
  'record',
  'said',
];

interface PostgresStoreParts {
  readonly database: PostgresDatabase;
  readonly sessions: SessionIds;
  readonly reader: PostgresReader;
  readonly appends: Appends;
  readonly node: Node;
  readonly usage: PostgresUsage;
  readonly records: PostgresRecords;
}

/** Keeps everything in a schema of a PostgreSQL database, which several gateways use at once. */
export class PostgresStore implements Store {
  readonly durability: 'process' | 'disk';
  readonly shared: SharedStore;
  readonly #settings: PostgresSettings;
  #parts: PostgresStoreParts | null = null;
  #opening: Promise<void> | null = null;
  /** Gateways of this process that use it. */
  #users = 0;

  /** @throws GatewayError `STORE_FAILED` */
  constructor(options: PostgresStoreOptions) {
    this.#settings = settingsOf(options);
    const { allowEphemeral, leaseMs } = this.#settings;
    this.durability = allowEphemeral ? 'process' : 'disk';
    this.shared = sharedPart(leaseMs, () => this.#open);
  }

  /** Connects for its first user. @throws GatewayError `STORE_FAILED`; `details.reason` says why */
  async open(): Promise<void> {
    this.#opening ??= this.#connect();
    try {
      await this.#opening;
      this.#users += 1;
    } catch (error) {
      this.#opening = null;
      throw openFailure(error);
    }
  }

  async #connect(): Promise<void> {
    const { schema, leaseMs } = this.#settings;
    const database = await PostgresDatabase.connect(this.#settings);
    const node = new Node(database, leaseMs);
    try {
      await database.examine();
      await prepareSchema(database, schema);
      await node.open();
    } catch (error) {
      await node.close();
      await database.close();
      throw error;
    }
    const sessions = new SessionIds(database);
    const reader = new PostgresReader(database, sessions);
    this.#parts = {
      database,
      sessions,
      reader,
      node,
      appends: new Appends(database, node.id),
      usage: new PostgresUsage(database, sessions),
      records: new PostgresRecords(database, sessions),
    };
  }

  /** Disconnects when its last user closes the store. */
  async close(): Promise<void> {
    const parts = this.#parts;
    if (!parts) return;
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#parts = null;
    this.#opening = null;
    await parts.node.close();
    await parts.database.close();
  }

  async check(): Promise<void> {
    const query = `INSERT INTO $S.meta VALUES ('checked', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    await this.#open.database.write(query, String(Date.now()));
  }

  get #open(): PostgresStoreParts {
    if (!this.#parts) throw new StoreError('UNAVAILABLE', 'The store is not open');
    return this.#parts;
  }

  async acquire(ref: SessionRef, { holder, create, from, taken, term }: AcquireOptions): Promise<Acquired> {
    const { database, sessions, reader, node } = this.#open;
    const key = sessions.keyOf(ref);
    const [row] = await database.write(
      'SELECT * FROM $S.acquire($1, $2, $3, $4, $5, $6, $7, $8)',
      key,
      ...[ref.scope, ref.app, ref.name, holder].map(toColumn),
      from === undefined ? null : toColumn(from),
      create ? beginningOf(create) : null,
      term ?? null,
    );
    const { kind, v_holder, v_term, v_log } = row!;
    if (kind === 'absent') return { kind };
    if (kind === 'owned') return { kind, holder: fromColumn(v_holder) };
    node.holds(key, taken);
    try {
      const log = await reader.log(ref);
      if (log?.id !== v_log || log?.term !== v_term)
        throw new StoreError('UNAVAILABLE', 'Another gateway took the session at the same moment');
      sessions.remember(ref, log!.epoch, v_log);
      const created = kind === 'created';
      const openRuns = created ? [] : await reader.openRuns(log!.session);
      return { kind: 'acquired', record: recordOf(log!), head: headOf(log!), openRuns, created };
    } catch (error) {
      // The session is held, even if it cannot be read.
      throw unknown(error);
    }
  }

  async release(ref: SessionRef, term: number): Promise<void> {
    const { database, sessions, node } = this.#open;
    const key = sessions.keyOf(ref);
    await database.write('SELECT $S.release($1, $2)', key, term);
    node.letGo(key);
  }

  async append(ref: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    const { sessions, appends, node, reader } = this.#open;
    const id = sessions.known(ref) ?? (await sessions.idOf(ref));
    if (id === null) throw new StoreError('FENCED', 'The store has no such log any more');
    const key = sessions.keyOf(ref);
    const { rewrites } = options;
    const rewritten = rewrites && (await rewriteBatches(reader, id, rewrites));
    const result = await appends.append({ ref, id, key, events, options, rewritten });
    node.watches.wake(key);
    return result;
  }

  async read(log: LogRef, after: number, limit: number, bytes: number): Promise<readonly StoredEvent[]> {
    return this.#open.reader.read(log, after, limit, bytes);
  }

  async head(ref: SessionRef, epoch?: string): Promise<LogHead | null> {
    return this.#open.reader.head(ref, epoch);
  }

  readonly changeRecords: Store['changeRecords'] = async (home, changes, options) =>
    this.#open.records.change(home, changes, options);
  readonly records: Store['records'] = async (query) => this.#open.records.list(query);
  readonly search = async (query: SaidQuery): Promise<SaidPage> => findSaid(this.#open, query);
  readonly takeDue: Store['takeDue'] = async (options) => this.#open.records.take(options);

  async conversations(ref: SessionRef): Promise<readonly string[]> {
    return this.#open.reader.conversations(ref);
  }

  async run(ref: SessionRef, name: RunName): Promise<RunRecord | null> {
    return this.#open.reader.run(ref, name);
  }

  async cut(
    ref: LogRef,
    checkpoint: Checkpoint,
    messages: readonly MessageRow[],
    term: number,
  ): Promise<void> {
    const { database, sessions } = this.#open;
    const id = await sessions.idOf(ref);
    if (id === null) return;
    const put = messagesToPut(messages);
    const cut = await database.call<boolean>(
      'cut',
      ...[id, term, checkpoint.seq, JSON.stringify(checkpoint), JSON.stringify(put.messages), put.touched],
    );
    if (!cut) throw new StoreError('FENCED', 'Another writer holds this session');
  }

  async checkpoint(log: LogRef): Promise<Checkpoint | null> {
    return this.#open.reader.checkpoint(log);
  }

  async messages(log: LogRef, path: PathOptions): Promise<readonly MessageRow[]> {
    return this.#open.reader.messages(log, path);
  }

  async replies(log: LogRef, parent: string | null): Promise<readonly string[]> {
    return this.#open.reader.replies(log, parent);
  }

  async record(ref: SessionRef): Promise<SessionRecord | null> {
    return this.#open.reader.record(ref);
  }

  async list(scope: string | null, page: PageOptions, filter?: ListFilter): Promise<ListPage> {
    return this.#open.reader.list(scope, page, filter);
  }

  async count(scope: string): Promise<number> {
    return this.#open.reader.count(scope);
  }

  async usage(ref: SessionRef): Promise<StoredSize> {
    return this.#open.usage.of(ref);
  }

  async openRuns(ref: SessionRef): Promise<readonly LeftRun[]> {
    return this.#open.reader.openRunsOf(ref);
  }

  async unfinished(): Promise<readonly (SessionRef & { readonly from: string })[]> {
    const { reader, node } = this.#open;
    const found = await reader.unfinished(this.#settings.leaseMs);
    node.saw(found[0]?.now);
    return found
      .filter(({ from, known }) => from === '' || !node.mayLive(known))
      .map(({ known: _, now: __, ...session }) => session);
  }

  async expire(before: number): Promise<void> {
    const { database } = this.#open;
    let dropped: number;
    do dropped = await database.call<number>('expire', Math.floor(before), SLICE);
    while (dropped > 0 && this.#parts);
  }

  async remove(ref: SessionRef): Promise<void> {
    const { database, sessions, node } = this.#open;
    const key = sessions.keyOf(ref);
    if (await database.call<boolean>('remove', node.id, key)) node.watches.wake(key);
  }

  async kept(
    scope: string,
    page: { readonly limit: number; readonly after?: SessionRef },
  ): Promise<readonly SessionRef[]> {
    return this.#open.reader.kept(scope, page);
  }

  async scopes(): Promise<readonly string[]> {
    return this.#open.reader.scopes();
  }

  /** Writes each table anew, while calls that use it wait. The server's log, copies and standbys are not covered. */
  async vacuum(): Promise<void> {
    const { database } = this.#open;
    try {
      for (const table of TABLES) await database.rows(`VACUUM (FULL) $S.${table}`, [], true);
    } catch (error) {
      throw new StoreError('UNAVAILABLE', 'PostgreSQL could not rewrite its tables', { cause: error });
    }
  }

  watch(ref: SessionRef, wake: (news?: News) => void): () => void {
    const { node, sessions } = this.#open;
    return node.watches.add(sessions.keyOf(ref), wake);
  }
}
