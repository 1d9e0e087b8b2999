import * as z from 'zod';
import type { UserName } from '../../shared/user-name.js';
import { userOfScope } from '../auth/scope.js';
import type { AuditEntry } from '../diagnostics/audit-entry.js';
import { digestOf } from '../ids.js';
import { asUnavailable } from '../log/unavailable.js';
import { kind } from '../records/kind.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';

const PAGE = 500;
/** Entries that wait to be written. Beyond them the oldest are left out: the log has them. */
const WAITING = 1000;
/** Time until a failed write is tried again, in milliseconds. */
const AGAIN_MS = 1000;
/** Part of the bound after which it is looked at again. */
const LOOK_AFTER = 10;

/** A home of its own, which no user has. */
const HOME: RecordHome = { scope: '~audit' };

/** One entry of the trail. Ids begin with the time, so pages are in its order. */
export const AUDIT = kind<AuditEntry>({
  name: 'audit',
  schema: z.looseObject({
    id: z.string(),
    at: z.number(),
    gatewayId: z.string(),
    act: z.string(),
    door: z.string(),
    outcome: z.string(),
  }) as unknown as z.ZodType<AuditEntry>,
  endsWith: 'time',
});

/** The first part of an id, whose order is that of time. */
const timePart = (at: number): string => String(Math.round(at)).padStart(15, '0');

export interface TrailOptions {
  readonly store: Pick<Store, 'records' | 'changeRecords'>;
  /** Time for which an entry is kept, in milliseconds; 0 keeps none. */
  readonly keptMs: number;
  /** Entries that are kept at most. */
  readonly most: number;
  now(): number;
  /** Opens the store on first use; null once it is open. */
  ready(): Promise<void> | null;
  report(error: unknown, what: string): void;
}

/** The acts that a store keeps, for as long and as many as the host says. */
export class AuditTrail {
  readonly #options: TrailOptions;
  #waiting: RecordChange[] = [];
  /** Entries so far: those of one moment are in their order. */
  #count = 0;
  #writing: Promise<void> | null = null;
  #written = Number.POSITIVE_INFINITY;
  #hasFailed = false;
  #again: NodeJS.Timeout | undefined;

  constructor(options: TrailOptions) {
    this.#options = options;
  }

  /** Keeps an entry. Nobody waits for it; entries that come meanwhile are written together. */
  keep(entry: AuditEntry): void {
    if (this.#options.keptMs === 0) return;
    this.#count += 1;
    const id = `${timePart(entry.at)}-${this.#count.toString(36).padStart(8, '0')}-${entry.id}`;
    this.#waiting.push(AUDIT.put(id, entry));
    if (this.#waiting.length > WAITING) this.#waiting.shift();
    if (this.#again === undefined) this.#write();
  }

  /** Resolves once all that was kept is written, or could not be. */
  async settled(): Promise<void> {
    clearTimeout(this.#again);
    this.#again = undefined;
    this.#write();
    await this.#writing;
    clearTimeout(this.#again);
  }

  #write(): void {
    if (this.#writing || this.#waiting.length === 0) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  async #writeAll(): Promise<void> {
    const { store, ready, report } = this.#options;
    try {
      await ready();
      while (this.#waiting.length > 0) {
        const changes = this.#waiting.slice(0, PAGE);
        await store.changeRecords(HOME, changes);
        this.#waiting = this.#waiting.filter((change) => !changes.includes(change));
        this.#written += changes.length;
      }
      this.#hasFailed = false;
      if (this.#written >= this.#options.most / LOOK_AFTER) await this.sweep();
    } catch (error) {
      if (!this.#hasFailed) report(error, 'the audit trail cannot be written; the log has its entries');
      this.#hasFailed = true;
      this.#again = setTimeout(() => {
        this.#again = undefined;
        this.#write();
      }, AGAIN_MS).unref();
    }
  }

  /** Drops what is too old, and the oldest of what is too much. */
  async sweep(): Promise<void> {
    const { keptMs, most, now } = this.#options;
    if (keptMs === 0) return;
    this.#written = 0;
    const before = now() - keptMs;
    const old: RecordChange[] = [];
    const kept: StoredRecord[] = [];
    for await (const record of this.#records()) {
      const entry = AUDIT.read(record)?.value;
      if (!entry || entry.at < before) old.push(AUDIT.drop(record.id));
      else kept.push(record);
    }
    old.push(...kept.slice(0, Math.max(0, kept.length - most)).map(({ id }) => AUDIT.drop(id)));
    await this.#drop(old);
  }

  /** The entries, the oldest first. @param since Milliseconds since the epoch @throws GatewayError `OVERLOADED` */
  async *entries(since = 0): AsyncGenerator<AuditEntry> {
    await this.settled();
    const after = { kind: AUDIT.name, id: timePart(since) };
    for await (const record of this.#records(after)) {
      const entry = AUDIT.read(record)?.value;
      if (entry) yield entry;
    }
  }

  /** Drops the entries that name somebody who is erased. */
  async forget({ scope, app }: RecordHome): Promise<void> {
    if (app !== undefined || this.#options.keptMs === 0) return;
    await this.settled();
    const user = userOfScope(scope);
    const names = (entry: AuditEntry): boolean =>
      entry.scope === scope || (user !== null && namesUser(entry, user));
    const gone: RecordChange[] = [];
    for await (const record of this.#records()) {
      const entry = AUDIT.read(record)?.value;
      if (entry && names(entry)) gone.push(AUDIT.drop(record.id));
    }
    await this.#drop(gone);
  }

  async #drop(changes: readonly RecordChange[]): Promise<void> {
    for (let at = 0; at < changes.length; at += PAGE)
      await asUnavailable(() => this.#options.store.changeRecords(HOME, changes.slice(at, at + PAGE)));
  }

  async *#records(after?: { readonly kind: string; readonly id: string }): AsyncGenerator<StoredRecord> {
    for (let last = after; ; ) {
      const query = { home: HOME, kind: AUDIT.name, limit: PAGE, ...(last && { after: last }) };
      const page = await asUnavailable(() => this.#options.store.records(query));
      yield* page;
      if (page.length < PAGE) return;
      last = page.at(-1);
    }
  }
}

/** Whether an entry names a user: as the one who acts, or in what it is about, there without a tenant in that of the actor, or in any. */
function namesUser({ by, door, about = {} }: AuditEntry, user: UserName): boolean {
  const isUser = (id: unknown, tenantId: unknown): boolean => id === user.id && tenantId === user.tenantId;
  // The host names people without their tenants.
  const isActor = isUser(by?.id, by?.tenantId ?? (door === 'host' ? user.tenantId : undefined));
  const { userId, tenantId = by ? by.tenantId : user.tenantId } = about;
  return isActor || isUser(userId, tenantId) || about.by === user.id;
}

/** Stands for a scope whose erasure is told of: who has the scope finds it, and nobody finds the scope. */
export const erasedName = (scope: string): string => `erased:${digestOf(scope)}`;
