import { formatCursor } from '../../shared/cursor.js';
import type { Message } from '../../shared/messages.js';
import { grow, MemoryLog, type MemoryScope, type MemorySession, NO_LOGS } from './memory-log.js';
import { MemoryRuns } from './memory-runs.js';
import { MessageRows } from './message-rows.js';
import {
  type Acquired,
  type AcquireOptions,
  type AppendOptions,
  type AppendResult,
  type Checkpoint,
  type EventRecord,
  firstCheckpoint,
  IDLE,
  type LogHead,
  type LogRef,
  type LogSource,
  type PageOptions,
  type PathOptions,
  placeOfAccepted,
  placeOfEnd,
  type RunName,
  type RunRecord,
  type SessionRecord,
  type SessionRef,
  type Store,
  type StoredEvent,
  type StoredSize,
  StoreError,
} from './store.js';
import { sizeOf } from './stored-size.js';

const keyOf = (ref: SessionRef): string => `${ref.scope}\n${ref.app}:${ref.name}`;
const runKey = (scope: string, runId: string): string => `${scope}\n${runId}`;
const fenced = (): StoreError => new StoreError('FENCED', 'Another writer holds this session');
const headOf = (log: MemoryLog): number => log.first + log.events.length - 1;

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
  readonly #sessions = new Map<string, MemorySession>();
  #term = 0;
  // A writer appends under one and the same ref; looking its session up by text would cost more than the append.
  readonly #writers = new WeakMap<LogRef, MemorySession>();
  readonly #scopes = new Map<string, MemoryScope>();
  /** Sessions by their runs. */
  readonly #runs = new Map<string, MemorySession>();
  readonly #wakes = new Map<string, Set<() => void>>();
  #ordinal = 0;

  open(): void {}
  close(): void {}

  acquire(ref: SessionRef, options: AcquireOptions): Acquired {
    let session = this.#sessions.get(keyOf(ref));
    const created = !session || session.log.closedAt !== null;
    if (created) {
      if (!options.create) return { kind: 'absent' };
      session = this.#begin(ref, session, options.create);
    }
    const { log } = session!;
    if (session!.taken) setImmediate(session!.taken);
    session!.taken = options.taken ?? null;
    // Never used again, not even by a session that was removed and begins anew.
    session!.term = ++this.#term;
    const first = headOf(log) + 1;
    // A term that wrote nothing is not worth remembering.
    if (log.terms.at(-1)?.first === first) log.terms.pop();
    log.terms.push({ term: session!.term, first });
    log.batch = 0;
    return {
      kind: 'acquired',
      record: recordOf(session!),
      head: describe(session!, log),
      openRuns: session!.runs.open,
      created,
    };
  }

  #begin(
    ref: SessionRef,
    old: MemorySession | undefined,
    { epoch, userId, from }: NonNullable<AcquireOptions['create']>,
  ): MemorySession {
    const now = Date.now();
    const scope = this.#scope(ref.scope);
    const log = new MemoryLog(scope, epoch);
    if (from) this.#copy(log, from);
    if (old) {
      if (!old.log.expired) old.past = new Map([...old.past, [old.log.epoch, old.log]]);
      Object.assign(old, { log, ordinal: ++this.#ordinal, createdAt: now, updatedAt: now, userId });
      scope.open.add(old);
      return old;
    }
    const session: MemorySession = {
      ref: { scope: ref.scope, app: ref.app, name: ref.name },
      ordinal: ++this.#ordinal,
      createdAt: now,
      updatedAt: now,
      userId,
      term: 0,
      taken: null,
      log,
      past: NO_LOGS,
      runs: new MemoryRuns(),
    };
    this.#sessions.set(keyOf(ref), session);
    scope.open.add(session);
    return session;
  }

  #copy(log: MemoryLog, { log: source, tip, messages }: LogSource): void {
    const all = [...((source && this.#log(source)?.messages.path({ tip })) ?? []), ...messages];
    grow(log, log.messages.put(all));
    log.checkpoint = firstCheckpoint(all.at(-1)?.id ?? null);
  }

  #scope(name: string): MemoryScope {
    let scope = this.#scopes.get(name);
    if (!scope) {
      scope = { name, open: new Set(), size: 0 };
      this.#scopes.set(name, scope);
    }
    return scope;
  }

  /** Forgets a scope of which there is nothing any more. */
  #forget({ name, open, size }: MemoryScope): void {
    if (open.size === 0 && size === 0) this.#scopes.delete(name);
  }

  release(ref: SessionRef, term: number): void {
    const session = this.#sessions.get(keyOf(ref));
    if (session?.term === term) session.taken = null;
  }

  append(ref: LogRef, events: readonly EventRecord[], options: AppendOptions): AppendResult {
    const session = this.#writer(ref);
    if (!session || session.log.epoch !== ref.epoch || options.term !== session.term) throw fenced();
    const { log } = session;
    const { term, batch, opens, ends } = options;
    if (batch <= log.batch) return { epoch: log.epoch, first: log.batchFirst, last: headOf(log) };
    if (log.closedAt !== null) throw fenced();
    if (batch !== log.batch + 1) throw new StoreError('ROLLED_BACK', `Batch ${batch} follows ${log.batch}`);
    const head = headOf(log);
    const known = opens?.key === undefined ? null : session.runs.find({ key: opens.key });
    if (known) return { epoch: log.epoch, first: head + 1, last: head, duplicate: known };

    let seq = head;
    let size = 0;
    for (const event of events) {
      event.seq = ++seq;
      event.term = term;
      log.events.push(event);
      size += event.body.length;
    }
    grow(log, size);
    const now = Date.now();
    if (opens) {
      session.runs.begin(opens, { epoch: log.epoch, accepted: placeOfAccepted(events, head + 1) });
      this.#runs.set(runKey(ref.scope, opens.runId), session);
    }
    if (options.steps) session.runs.keep(options.steps);
    if (ends) {
      for (const { runId, result } of ends) {
        const cursor = formatCursor(log.epoch, term, placeOfEnd(events, runId, seq));
        session.runs.end(runId, { ...result, cursor });
      }
    }
    session.updatedAt = now;
    if (options.activity) log.activity = options.activity;
    if (options.close) {
      session.runs.endAll();
      log.closedAt = now;
      log.scope.open.delete(session);
      this.#forget(log.scope);
    }
    log.batch = batch;
    log.batchFirst = head + 1;
    const wakes = this.#wakes.size > 0 ? this.#wakes.get(keyOf(ref)) : undefined;
    if (wakes) for (const wake of wakes) wake();
    return { epoch: log.epoch, first: head + 1, last: seq };
  }

  usage(ref: SessionRef): StoredSize {
    const session = this.#sessions.get(keyOf(ref));
    const logs = session ? [session.log, ...session.past.values()] : [];
    return {
      session: logs.reduce((sum, { size }) => sum + size, 0),
      scope: this.#scopes.get(ref.scope)?.size ?? 0,
    };
  }

  #writer(ref: LogRef): MemorySession | undefined {
    const known = this.#writers.get(ref);
    if (known?.log.epoch === ref.epoch) return known;
    const session = this.#sessions.get(keyOf(ref));
    if (session) this.#writers.set(ref, session);
    return session;
  }

  read(ref: LogRef, after: number, limit: number, bytes: number): readonly StoredEvent[] {
    const log = this.#log(ref);
    if (!log) return [];
    const start = Math.max(0, after + 1 - log.first);
    let end = start;
    let size = 0;
    while (end < log.events.length && end - start < limit && size < bytes)
      size += log.events[end++]!.body.length;
    return log.events.slice(start, end);
  }

  #log(ref: LogRef): MemoryLog | undefined {
    const session = this.#sessions.get(keyOf(ref));
    if (session?.log.epoch !== ref.epoch) return session?.past.get(ref.epoch);
    return session.log.expired ? undefined : session.log;
  }

  head(ref: SessionRef, epoch?: string): LogHead | null {
    const session = this.#sessions.get(keyOf(ref));
    const log = session && this.#log({ ...ref, epoch: epoch ?? session.log.epoch });
    return log ? describe(session!, log) : null;
  }

  conversations(ref: SessionRef): readonly string[] {
    const session = this.#sessions.get(keyOf(ref));
    if (!session) return [];
    return session.log.expired ? [...session.past.keys()] : [...session.past.keys(), session.log.epoch];
  }

  run(ref: SessionRef, name: RunName): RunRecord | null {
    return this.#sessions.get(keyOf(ref))?.runs.find(name) ?? null;
  }

  sessionOf(scope: string, runId: string): SessionRef | null {
    return this.#runs.get(runKey(scope, runId))?.ref ?? null;
  }

  cut(ref: LogRef, checkpoint: Checkpoint, messages: readonly Message[], term: number): void {
    const log = this.#log(ref);
    if (!log || checkpoint.seq < log.first) return;
    if (log.terms.at(-1)?.term !== term) throw new StoreError('FENCED', 'Another writer holds this session');
    log.checkpoint = checkpoint;
    const kept = log.messages.put(messages);
    const cut = log.events.slice(0, checkpoint.seq + 1 - log.first);
    log.events = log.events.slice(cut.length);
    grow(log, kept - sizeOf(cut));
    log.first = checkpoint.seq + 1;
  }

  checkpoint(ref: LogRef): Checkpoint | null {
    return this.#log(ref)?.checkpoint ?? null;
  }

  messages(ref: LogRef, path: PathOptions): readonly Message[] {
    return this.#log(ref)?.messages.path(path) ?? [];
  }

  record(ref: SessionRef): SessionRecord | null {
    const session = this.#sessions.get(keyOf(ref));
    return session && !session.log.expired ? recordOf(session) : null;
  }

  list(scope: string, page: PageOptions): { records: readonly SessionRecord[]; next: number | null } {
    const all = [...(this.#scopes.get(scope)?.open ?? [])].sort((a, b) => b.ordinal - a.ordinal);
    const older = page.before === undefined ? all : all.filter((session) => session.ordinal < page.before!);
    const found = older.slice(0, page.limit);
    return { records: found.map(recordOf), next: older.length > found.length ? found.at(-1)!.ordinal : null };
  }

  count(scope: string): number {
    return this.#scopes.get(scope)?.open.size ?? 0;
  }

  unfinished(): readonly SessionRef[] {
    const isBusy = ({ runs, log }: MemorySession): boolean =>
      runs.openCount > 0 || (log.closedAt === null && (log.activity ?? IDLE).status !== 'idle');
    return [...this.#sessions.values()].filter(isBusy).map(({ ref }) => ref);
  }

  expire(before: { readonly runs: number; readonly closedLogs: number }): void {
    for (const [key, session] of this.#sessions) {
      const { scope } = session.ref;
      for (const runId of session.runs.expire(before.runs)) this.#runs.delete(runKey(scope, runId));
      const { log, runs } = session;
      const isOld = ({ closedAt }: MemoryLog): boolean => closedAt! < before.closedLogs;
      for (const old of session.past.values()) if (isOld(old)) this.#drop(old);
      const past = new Map([...session.past].filter(([, old]) => !isOld(old)));
      session.past = past.size > 0 ? past : NO_LOGS;
      if (log.closedAt === null || log.closedAt >= before.closedLogs) continue;
      this.#drop(log);
      Object.assign(log, { expired: true, events: [], messages: new MessageRows(), checkpoint: null });
      if (runs.size === 0 && past.size === 0) this.#sessions.delete(key);
    }
  }

  #drop(log: MemoryLog): void {
    grow(log, -log.size);
    this.#forget(log.scope);
  }

  remove(ref: SessionRef): void {
    const session = this.#sessions.get(keyOf(ref));
    if (!session || session.log.closedAt === null) return;
    for (const log of [session.log, ...session.past.values()]) this.#drop(log);
    for (const runId of session.runs.ids) this.#runs.delete(runKey(ref.scope, runId));
    this.#sessions.delete(keyOf(ref));
  }

  watch(ref: SessionRef, wake: () => void): () => void {
    const key = keyOf(ref);
    const wakes = this.#wakes.get(key) ?? new Set();
    this.#wakes.set(key, wakes.add(wake));
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.#wakes.get(key) === wakes) this.#wakes.delete(key);
    };
  }
}

function describe(session: MemorySession, log: MemoryLog): LogHead {
  return {
    epoch: log.epoch,
    term: log.terms.at(-1)?.term ?? session.term,
    first: log.first,
    head: headOf(log),
    // A copy: whoever has it is not to see what the next writer does.
    terms: [...log.terms],
    closed: log.closedAt !== null,
    ...(log.activity && { activity: log.activity }),
  };
}

function recordOf(session: MemorySession): SessionRecord {
  const { ref, log, createdAt, updatedAt, userId } = session;
  const record = {
    ref,
    epoch: log.epoch,
    createdAt,
    updatedAt,
    closed: log.closedAt !== null,
    ...(log.activity && { activity: log.activity }),
  };
  return userId === undefined ? record : { ...record, userId };
}
