import { type AppendOptions, type AppendResult, type EventRecord, type News, StoreError } from '../append.js';
import type { ListFilter, ListPage, PageOptions } from '../listing.js';
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
import { Expiry } from './expiry.js';
import { Keys, refOfMember } from './keys.js';
import { inDoubt, Link } from './link.js';
import { Lists } from './lists.js';
import { RedisMembers } from './membership.js';
import { type RedisSettings, type RedisStoreOptions, redisFailed, settingsOf } from './options.js';
import { PlainAppends } from './plain-appends.js';
import { RedisReader } from './reader.js';
import { RedisRecords } from './records.js';
import { checkRedis } from './requirements.js';
import { encodeRows, RedisRows } from './rows.js';
import { scopesIn } from './scopes.js';
import { REMOVE } from './scripts/append.js';
import { ACQUIRE, CUT, RELEASE } from './scripts/hold.js';
import {
  encodeBeginning,
  type Fields,
  headOf,
  leftRunsOf,
  recordOf,
  type SessionData,
  sessionDataOf,
} from './session-data.js';
import { RedisUsage } from './usage.js';
import { rewriteFiles } from './vacuum.js';
import { RedisWatches } from './watches.js';
import { Writer } from './writer.js';

interface RedisStoreParts {
  readonly link: Link;
  readonly watches: RedisWatches;
  readonly lists: Lists;
  readonly rows: RedisRows;
  readonly reader: RedisReader;
  readonly usage: RedisUsage;
  readonly expiry: Expiry;
  readonly writer: Writer;
  readonly records: RedisRecords;
}

const KEPT = { always: 'disk', everysec: 'process', none: 'memory' } as const;

/** Distinguishes two terms of one millisecond, in case Redis has forgotten the first. */
const random = (): number => Math.floor(Math.random() * 1000);

/** Keeps sessions in Redis, for all gateways that use it. */
export class RedisStore implements Store {
  readonly durability: Store['durability'];
  readonly shared: RedisMembers;
  readonly #settings: RedisSettings;
  readonly #keys: Keys;
  #parts: RedisStoreParts | null = null;
  #opening: Promise<void> | null = null;
  /** Gateways of this process that share the store. */
  #users = 0;

  constructor(options: RedisStoreOptions) {
    this.#settings = settingsOf(options);
    const { prefix, leaseMs, durability } = this.#settings;
    this.#keys = new Keys(prefix);
    this.durability = KEPT[durability];
    this.shared = new RedisMembers(leaseMs, () => ({ ...this.#open, keys: this.#keys }));
  }

  /** Connects for its first user. @throws GatewayError `STORE_FAILED`; `details.reason` says why */
  async open(): Promise<void> {
    this.#opening ??= this.#connect();
    try {
      await this.#opening;
      this.#users += 1;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  async #connect(): Promise<void> {
    const keys = this.#keys;
    const link = new Link(this.#settings);
    await link.open();
    let apart: boolean;
    try {
      apart = await checkRedis(link, keys, this.#settings);
    } catch (error) {
      link.close();
      if (!(error instanceof StoreError)) throw error;
      throw redisFailed('refused', error.message, error);
    }
    const { leaseMs, cluster, sentinel } = this.#settings;
    const [lists, usage, expiry] = [
      new Lists(link, keys),
      new RedisUsage(link, keys),
      new Expiry(link, keys),
    ];
    const [watches, rows] = [
      new RedisWatches(link, cluster || sentinel ? leaseMs : undefined),
      new RedisRows(link, keys),
    ];
    const records = new RedisRecords(link, keys);
    const reader = new RedisReader(link, keys, this.shared);
    const appends = new PlainAppends({ link, keys, usage, apart });
    const writer = new Writer({ appends, link, keys, lists, usage, records, rows, reader });
    this.#parts = { link, watches, reader, lists, rows, usage, expiry, writer, records };
  }

  /** Closes the connections when its last user closes the store. */
  async close(): Promise<void> {
    const parts = this.#parts;
    if (!parts) return;
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#parts = null;
    this.#opening = null;
    this.shared.stop();
    parts.watches.clear();
    await parts.lists.settled();
    parts.link.close();
  }

  get #open(): RedisStoreParts {
    if (!this.#parts) throw new StoreError('UNAVAILABLE', 'The store is not open');
    return this.#parts;
  }

  async check(): Promise<void> {
    const key = this.#keys.checked;
    const answer = await this.#open.link.once(key, ['SET', key, String(Date.now())]);
    if (answer !== 'OK') throw new StoreError('UNAVAILABLE', 'Redis cannot be written');
  }

  async acquire(ref: SessionRef, { holder, create, from = '', term }: AcquireOptions): Promise<Acquired> {
    const { link, lists, expiry } = this.#open;
    const session = this.#keys.session(ref);
    if (create) await expiry.keep(ref);
    const call = ACQUIRE.call(session, {
      holder,
      from,
      now: create?.copied?.createdAt ?? Date.now() + this.shared.skewMs,
      sid: session.sid,
      random: random(),
      create: create ? encodeBeginning(create) : '',
      given: term ?? '',
    });
    const answer = (await link.run(call)) as readonly unknown[];
    if (answer[0] === 'N') return { kind: 'absent' };
    if (answer[0] === 'O') return { kind: 'owned', holder: answer[1] as string };
    const [, isCreated, fields, runs, kept] = answer as [string, number, Fields, string[], string[]];
    const data = sessionDataOf(fields)!;
    const head = headOf(data)!;
    const record = recordOf(ref, data)!;
    lists.used(ref, data.od!, record.updatedAt);
    return { kind: 'acquired', record, head, openRuns: leftRunsOf(runs, kept), created: isCreated === 1 };
  }

  async release(ref: SessionRef, term: number): Promise<void> {
    const session = this.#keys.session(ref);
    await this.#open.link.run(RELEASE.call(session, { term, sid: session.sid }));
  }

  append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): Promise<AppendResult> {
    return this.#open.writer.append(log, events, options);
  }

  read(log: LogRef, after: number, limit: number, bytes: number): Promise<readonly StoredEvent[]> {
    return this.#open.reader.read(log, after, limit, bytes);
  }

  head(ref: SessionRef, epoch?: string): Promise<LogHead | null> {
    return this.#open.reader.head(ref, epoch);
  }

  conversations(ref: SessionRef): Promise<readonly string[]> {
    return this.#open.reader.conversations(ref);
  }

  run(ref: SessionRef, name: RunName): Promise<RunRecord | null> {
    return this.#open.reader.run(ref, name);
  }

  readonly changeRecords: Store['changeRecords'] = async (home, changes) =>
    this.#open.records.change(home, changes);
  readonly records: Store['records'] = async (query) => this.#open.records.list(query);
  readonly takeDue: Store['takeDue'] = async (options) => this.#open.records.take(options);

  checkpoint(log: LogRef): Promise<Checkpoint | null> {
    return this.#open.reader.checkpoint(log);
  }

  record(ref: SessionRef): Promise<SessionRecord | null> {
    return this.#open.reader.record(ref);
  }

  openRuns(ref: SessionRef): Promise<readonly LeftRun[]> {
    return this.#open.reader.openRuns(ref);
  }

  unfinished(): Promise<readonly (SessionRef & { readonly from: string })[]> {
    return this.#open.reader.unfinished();
  }

  async cut(
    log: LogRef,
    checkpoint: Checkpoint,
    messages: readonly MessageRow[],
    term: number,
  ): Promise<void> {
    const { link, rows, usage } = this.#open;
    const session = this.#keys.session(log);
    const put = await rows.put(log, messages);
    const keys = { ...session, ...this.#keys.log(session, log.epoch) };
    const { epoch } = log;
    const { seq } = checkpoint;
    const args = { epoch, term, seq, folded: JSON.stringify(checkpoint), grown: put.grown };
    const call = CUT.call(keys, args, { args: encodeRows(put.messages) });
    const [letter, grown] = (await link.run(call)) as [string, number];
    if (letter === 'F') throw new StoreError('FENCED', 'Another writer holds this session');
    usage.grow(log.scope, grown);
  }

  messages(log: LogRef, path: PathOptions): Promise<readonly MessageRow[]> {
    return this.#open.rows.path(log, path);
  }

  replies(log: LogRef, parent: string | null): Promise<readonly string[]> {
    return this.#open.rows.replies(log, parent);
  }

  list(scope: string | null, page: PageOptions, filter?: ListFilter): Promise<ListPage> {
    return this.#open.lists.list(scope, page, filter);
  }

  count(scope: string): Promise<number> {
    return this.#open.lists.count(scope);
  }

  usage(ref: SessionRef): Promise<StoredSize> {
    return this.#open.usage.of(ref);
  }

  async expire(before: number): Promise<void> {
    const { expiry, usage, reader } = this.#open;
    await expiry.expire(before, async (ref, epoch) => {
      const data = await reader.data(ref);
      return data?.ep === epoch && data.cl !== null && this.#drop(ref, data);
    });
    usage.forget();
  }

  async remove(ref: SessionRef): Promise<void> {
    const { expiry, reader } = this.#open;
    for (;;) {
      const data = await reader.data(ref);
      // Also if an earlier call has removed it and its reply was lost.
      if (!data) return expiry.forget(ref);
      // Otherwise the session was begun anew, or other logs were dropped meanwhile.
      if (data.cl === null || (await this.#drop(ref, data))) return;
    }
  }

  /** Drops a closed session, unless it has changed since it was read. */
  async #drop(ref: SessionRef, data: SessionData): Promise<boolean> {
    const { link, expiry, usage, records } = this.#open;
    const session = this.#keys.session(ref);
    const { closed, sid } = session;
    const seen = data.ep!;
    const past = (await link.send(closed, ['HKEYS', closed])) as string[];
    const owners = await records.owners(ref);
    const rest = { keys: this.#keys.logs(session, [seen, ...past]) };
    if ((await link.run(REMOVE.call(session, { seen, past: past.length, sid }, rest))) !== 1) return false;
    await records.forget(ref, owners);
    await expiry.forget(ref).catch(inDoubt);
    usage.forget();
    return true;
  }

  async kept(
    scope: string,
    { limit, after }: { readonly limit: number; readonly after?: SessionRef },
  ): Promise<readonly SessionRef[]> {
    const members = await this.#open.expiry.kept(scope, limit, after);
    return members.map((member) => refOfMember(scope, member));
  }

  async scopes(): Promise<readonly string[]> {
    return scopesIn(this.#open.link, this.#keys, this.#settings.cluster !== undefined);
  }

  vacuum(): Promise<void> {
    return rewriteFiles(this.#open.link, this.#keys, this.#settings.cluster !== undefined);
  }

  watch(ref: SessionRef, wake: (news?: News) => void): () => void {
    return this.#open.watches.watch(this.#keys.session(ref).news, wake);
  }
}
