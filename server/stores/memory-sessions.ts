import { ABOUT_NOTHING } from './about.js';
import { grow, MemoryLog, type MemoryScope, type MemorySession, NO_LOGS } from './memory-log.js';
import { MemoryRuns } from './memory-runs.js';
import { byUse, UseOrder } from './memory-use-order.js';
import { keyOf } from './ref-key.js';
import type { NewSession } from './store.js';
import type { SessionRef, StoredEvent } from './stored.js';

const nameOf = ({ app, name }: SessionRef): string => `${app}:${name}`;
/** Sessions that `expire` visits before it yields to other work. */
const EXPIRE_SLICE = 1000;

/** The sessions in memory, and the scopes that they are in. */
export class MemorySessions {
  readonly #sessions = new Map<string, MemorySession>();
  readonly #scopes = new Map<string, MemoryScope>();
  readonly #dropped: (ref: SessionRef) => void;
  #ordinal = 0;

  /** @param dropped Called when a session was dropped */
  constructor(dropped: (ref: SessionRef) => void) {
    this.#dropped = dropped;
  }

  find(ref: SessionRef): MemorySession | undefined {
    return this.#sessions.get(keyOf(ref));
  }

  all(): IterableIterator<MemorySession> {
    return this.#sessions.values();
  }

  /** The open sessions of a scope; with `null` of all. */
  open(scope: string | null): Iterable<MemorySession> {
    if (scope !== null) return this.#scopes.get(scope)?.open ?? [];
    return [...this.#scopes.values()].flatMap(({ open }) => [...open]).sort(byUse);
  }

  /** A scope that anything is in. */
  scope(name: string): MemoryScope | undefined {
    return this.#scopes.get(name);
  }

  /** Begins a conversation. @param old The session of this name, whose last conversation is closed */
  begin(ref: SessionRef, old: MemorySession | undefined, create: NewSession): MemorySession {
    const { userId, forkedFrom, copied } = create;
    const now = copied?.createdAt ?? Date.now();
    const scope = this.#scopeOf(ref.scope);
    const log = new MemoryLog(scope, create.epoch, copied);
    const begun = {
      log,
      createdAt: now,
      updatedAt: now,
      userId,
      forkedFrom,
      about: ABOUT_NOTHING,
      erased: null,
    };
    if (old) {
      old.past = new Map([...old.past, [old.log.epoch, old.log]]);
      Object.assign(old, { ...begun, ordinal: ++this.#ordinal });
      scope.open.add(old);
      return old;
    }
    const session: MemorySession = {
      ref: { scope: ref.scope, app: ref.app, name: ref.name },
      ordinal: ++this.#ordinal,
      createdAt: now,
      updatedAt: now,
      usedAfter: null,
      usedBefore: null,
      userId,
      forkedFrom,
      about: ABOUT_NOTHING,
      term: 0,
      taken: null,
      log,
      past: NO_LOGS,
      runs: new MemoryRuns(),
      erased: null,
    };
    this.#sessions.set(keyOf(ref), session);
    scope.open.add(session);
    return session;
  }

  #scopeOf(name: string): MemoryScope {
    let scope = this.#scopes.get(name);
    if (!scope) {
      scope = { name, open: new UseOrder(), size: 0 };
      this.#scopes.set(name, scope);
    }
    return scope;
  }

  /** Forgets a scope that is empty. */
  forget({ name, open, size }: MemoryScope): void {
    if (open.size === 0 && size === 0) this.#scopes.delete(name);
  }

  drop(session: MemorySession): void {
    const { ref, log, past } = session;
    log.scope.open.delete(session);
    for (const old of [log, ...past.values()]) this.#dropLog(old);
    this.#sessions.delete(keyOf(ref));
    this.#dropped(ref);
  }

  /** Leaves a closed log with one event in place of an erased session. */
  leave(ref: SessionRef, epoch: string, event: StoredEvent): void {
    const { term } = event;
    const { log } = this.begin(ref, undefined, { epoch });
    const session = this.#sessions.get(keyOf(ref))!;
    log.events.push(event);
    log.terms.push({ term, first: 1 });
    log.closedAt = session.updatedAt;
    session.term = term;
    log.scope.open.delete(session);
    grow(log, event.body.length);
  }

  async expire(before: number): Promise<void> {
    let looked = 0;
    for (const session of this.#sessions.values()) {
      if (++looked % EXPIRE_SLICE === 0) await new Promise(setImmediate);
      const isOld = ({ closedAt }: MemoryLog): boolean => closedAt !== null && closedAt < before;
      if (isOld(session.log)) {
        this.drop(session);
        continue;
      }
      session.runs.expire(before);
      for (const old of session.past.values()) if (isOld(old)) this.#dropLog(old);
      const past = new Map([...session.past].filter(([, old]) => !isOld(old)));
      session.past = past.size > 0 ? past : NO_LOGS;
    }
  }

  #dropLog(log: MemoryLog): void {
    grow(log, -log.size);
    this.forget(log.scope);
  }

  /** All scopes of which anything is kept. */
  get scopes(): Iterable<string> {
    return new Set([...this.#sessions.values()].map(({ ref }) => ref.scope));
  }

  kept(
    scope: string,
    { limit, after }: { readonly limit: number; readonly after?: SessionRef },
  ): readonly SessionRef[] {
    const refs = [...this.#sessions.values()].map(({ ref }) => ref).filter((ref) => ref.scope === scope);
    const last = after && nameOf(after);
    const left = refs.filter((ref) => last === undefined || nameOf(ref) > last);
    return left.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).slice(0, limit);
  }
}
