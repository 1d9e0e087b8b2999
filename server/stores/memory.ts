import { formatCursor } from '../../shared/cursor.js';
import {
  type AppendOptions,
  type AppendResult,
  type EventRecord,
  placeOfAccepted,
  placeOfEnd,
  StoreError,
} from './append.js';
import type { ListFilter, ListPage, PageOptions } from './listing.js';
import { grow, type MemoryLog, type MemorySession, rewrite } from './memory-log.js';
import { describe, listOf, recordOf } from './memory-records.js';
import { MemorySaid } from './memory-said.js';
import { MemorySessions } from './memory-sessions.js';
import { StoredRecords } from './memory-stored-records.js';
import { MessageRows } from './message-rows.js';
import { PackedEvents } from './packed-events.js';
import { putsInSession } from './records.js';
import { keyOf } from './ref-key.js';
import type { SaidPage, SaidQuery } from './said.js';
import type { Acquired, AcquireOptions, PathOptions, Store } from './store.js';
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
} from './stored.js';
import { sizeOf } from './stored-size.js';
import { type Wake, Watches } from './watches.js';

const fenced = (): StoreError => new StoreError('FENCED', 'Another writer holds this session');

/**
 * Keeps everything in this process, for embedding and tests. Answers every call at once; nothing survives the process.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ app, store: memoryStore() });
 * ```
 */
export function memoryStore(): Store {
  return new MemoryStore();
}

class MemoryStore implements Store {
  readonly durability = 'memory';
  readonly #sessions = new MemorySessions((ref) => this.#dropped(ref));
  #term = 0;
  // A writer appends under one and the same ref; looking its session up by text would cost more than the append.
  readonly #writers = new WeakMap<LogRef, MemorySession>();
  readonly #watches = new Watches();
  readonly #records = new StoredRecords();
  readonly #said = new MemorySaid();

  open(): void {}
  close(): void {}

  acquire(ref: SessionRef, options: AcquireOptions): Acquired {
    let session = this.#sessions.find(ref);
    const created = !session || session.log.closedAt !== null;
    if (created) {
      if (!options.create) return { kind: 'absent' };
      session = this.#sessions.begin(ref, session, options.create);
    }
    const { log } = session!;
    if (session!.taken) setImmediate(session!.taken);
    session!.taken = options.taken ?? null;
    // Never used again, not even by a session that was removed and begins anew.
    session!.term = options.term ?? ++this.#term;
    this.#term = Math.max(this.#term, session!.term);
    const first = log.events.head + 1;
    // Forget a term that wrote nothing.
    if (log.terms.at(-1)?.first === first) log.terms.pop();
    if (log.terms.at(-1)?.term !== session!.term) log.terms.push({ term: session!.term, first });
    log.batch = 0;
    return {
      kind: 'acquired',
      record: recordOf(session!),
      head: describe(session!, log),
      openRuns: session!.runs.open,
      created,
    };
  }

  release(ref: SessionRef, term: number): void {
    const session = this.#sessions.find(ref);
    if (session?.term === term) session.taken = null;
  }

  append(ref: LogRef, events: readonly EventRecord[], options: AppendOptions): AppendResult {
    const session = this.#writer(ref);
    if (!session || session.log.epoch !== ref.epoch || options.term !== session.term) throw fenced();
    const { log } = session;
    const { term, batch, opens, ends } = options;
    if (batch <= log.batch) return { epoch: log.epoch, first: log.batchFirst, last: log.events.head };
    if (log.closedAt !== null) throw fenced();
    if (batch !== log.batch + 1)
      throw new StoreError(
        'ROLLED_BACK',
        `Batch ${batch} was sent, but the last one in the store is ${log.batch}`,
      );
    const head = log.events.head;
    const known = opens?.key === undefined ? null : session.runs.find({ key: opens.key });
    const nothing = { epoch: log.epoch, first: head + 1, last: head };
    if (known) return { ...nothing, duplicate: known };
    const { records } = options;
    if (records && !this.#records.allows(session.ref, records)) return { ...nothing, stale: true };

    if (options.erase !== undefined) return this.#appendLast(session, events, options, options.erase);
    let last = head;
    for (const event of events) {
      event.seq = ++last;
      event.term = term;
      log.events.push(event);
    }
    grow(log, sizeOf(events));
    if (opens) {
      session.runs.begin(opens, { epoch: log.epoch, accepted: placeOfAccepted(events, head + 1) });
    }
    if (options.steps) session.runs.keep(options.steps);
    if (records) this.#records.change(session.ref, records);
    if (options.messages) grow(log, log.messages.put(options.messages));
    if (options.rewrites) rewrite(log, options.rewrites);
    if (options.said) this.#said.change(ref, options.said, last, term);
    if (ends) {
      for (const { runId, result } of ends) {
        const cursor = formatCursor(log.epoch, term, placeOfEnd(events, runId, last));
        session.runs.end(runId, { cursor, ...result });
      }
    }
    if (options.activity) log.activity = options.activity;
    if (options.about) {
      const { usedAt, ...about } = options.about;
      session.about = about;
      if (usedAt !== undefined && usedAt > session.updatedAt) {
        session.updatedAt = usedAt;
        log.scope.open.used(session);
      }
    }
    if (options.close) {
      session.runs.endAll();
      log.closedAt = Date.now();
      this.#said.drop(ref);
      log.scope.open.delete(session);
      this.#sessions.forget(log.scope);
    }
    log.batch = batch;
    log.batchFirst = head + 1;
    this.#wake(ref);
    return { epoch: log.epoch, first: head + 1, last };
  }

  #dropped(ref: SessionRef): void {
    this.#records.drop(ref);
    this.#wake(ref);
  }

  #wake(ref: SessionRef): void {
    if (this.#watches.size > 0) this.#watches.wake(keyOf(ref));
  }

  /** Erases a session and keeps only the last of these events. */
  #appendLast(
    session: MemorySession,
    events: readonly EventRecord[],
    { term, batch }: AppendOptions,
    epoch: string,
  ): AppendResult {
    const { log } = session;
    const first = log.events.head + 1;
    let last = first - 1;
    for (const event of events) Object.assign(event, { seq: ++last, term });
    this.#said.drop({ ...session.ref, epoch: log.epoch });
    this.#sessions.drop(session);
    this.#sessions.leave(session.ref, epoch, events.at(-1)!);
    // The writer repeats the batch if the answer was lost.
    const left = { messages: new MessageRows(), checkpoint: null, closedAt: Date.now() };
    Object.assign(log, { ...left, events: new PackedEvents(last + 1), batch, batchFirst: first });
    this.#sessions.find(session.ref)!.erased = session;
    return { epoch: log.epoch, first, last };
  }

  usage(ref: SessionRef): StoredSize {
    const session = this.#sessions.find(ref);
    const logs = session ? [session.log, ...session.past.values()] : [];
    return {
      session: logs.reduce((sum, { size }) => sum + size, 0),
      scope: this.#sessions.scope(ref.scope)?.size ?? 0,
    };
  }

  #writer(ref: LogRef): MemorySession | undefined {
    const known = this.#writers.get(ref);
    if (known?.log.epoch === ref.epoch) return known;
    const present = this.#sessions.find(ref);
    const session = present?.erased?.log.epoch === ref.epoch ? present.erased : present;
    if (session) this.#writers.set(ref, session);
    return session;
  }

  read(ref: LogRef, after: number, limit: number, bytes: number): readonly StoredEvent[] {
    return this.#log(ref)?.events.read(after, limit, bytes) ?? [];
  }

  #log(ref: LogRef): MemoryLog | undefined {
    const session = this.#sessions.find(ref);
    if (session?.log.epoch !== ref.epoch) return session?.past.get(ref.epoch);
    return session.log;
  }

  readonly changeRecords: Store['changeRecords'] = (home, changes) => {
    const isLost = putsInSession(home, changes) && !this.#isKept(home);
    const allowed = !isLost && this.#records.allows(home, changes);
    if (allowed) this.#records.change(home, changes);
    return allowed;
  };

  /** Whether a session has a log that is more than what an erasure leaves. */
  #isKept(ref: SessionRef): boolean {
    const session = this.#sessions.find(ref);
    return session !== undefined && !session.erased;
  }

  readonly search = (query: SaidQuery): SaidPage => this.#said.find(query);
  readonly records: Store['records'] = (query) => this.#records.list(query);
  readonly takeDue: Store['takeDue'] = (options) => this.#records.take(options);

  head(ref: SessionRef, epoch?: string): LogHead | null {
    const session = this.#sessions.find(ref);
    const log = session && this.#log({ ...ref, epoch: epoch ?? session.log.epoch });
    return log ? describe(session!, log) : null;
  }

  conversations(ref: SessionRef): readonly string[] {
    const session = this.#sessions.find(ref);
    if (!session) return [];
    return [...session.past.keys(), session.log.epoch];
  }

  run(ref: SessionRef, name: RunName): RunRecord | null {
    return this.#sessions.find(ref)?.runs.find(name) ?? null;
  }

  openRuns(ref: SessionRef): readonly LeftRun[] {
    return this.#sessions.find(ref)?.runs.open ?? [];
  }

  cut(ref: LogRef, checkpoint: Checkpoint, messages: readonly MessageRow[], term: number): void {
    const log = this.#log(ref);
    if (!log || checkpoint.seq < log.events.first) return;
    if (log.terms.at(-1)?.term !== term) throw new StoreError('FENCED', 'Another writer holds this session');
    log.checkpoint = checkpoint;
    const kept = log.messages.put(messages);
    grow(log, kept - log.events.cut(checkpoint.seq));
  }

  checkpoint(ref: LogRef): Checkpoint | null {
    return this.#log(ref)?.checkpoint ?? null;
  }

  messages(ref: LogRef, path: PathOptions): readonly MessageRow[] {
    return this.#log(ref)?.messages.path(path) ?? [];
  }

  replies(ref: LogRef, parent: string | null): readonly string[] {
    return this.#log(ref)?.messages.replies(parent) ?? [];
  }

  record(ref: SessionRef): SessionRecord | null {
    const session = this.#sessions.find(ref);
    return session ? recordOf(session) : null;
  }

  list(scope: string | null, page: PageOptions, filter?: ListFilter): ListPage {
    return listOf(this.#sessions.open(scope), page, filter);
  }

  count(scope: string): number {
    return this.#sessions.scope(scope)?.open.size ?? 0;
  }

  unfinished(): readonly SessionRef[] {
    const isBusy = ({ runs, log }: MemorySession): boolean =>
      !log.activity.parked &&
      (runs.openCount > 0 || (log.closedAt === null && log.activity.status !== 'idle'));
    return [...this.#sessions.all()].filter(isBusy).map(({ ref }) => ref);
  }

  remove(ref: SessionRef): void {
    const session = this.#sessions.find(ref);
    if (session && session.log.closedAt !== null) this.#sessions.drop(session);
  }

  expire(before: number): Promise<void> {
    return this.#sessions.expire(before);
  }

  scopes(): readonly string[] {
    return [...new Set([...this.#sessions.scopes, ...this.#records.scopes])];
  }

  kept(scope: string, page: { readonly limit: number; readonly after?: SessionRef }): readonly SessionRef[] {
    return this.#sessions.kept(scope, page);
  }

  watch(ref: SessionRef, wake: Wake): () => void {
    return this.#watches.add(keyOf(ref), wake);
  }
}
