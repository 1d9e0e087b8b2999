import { within } from '../async/deadline.js';
import { nextTurn } from '../async/turn.js';
import type { DueCount } from '../diagnostics/gateway-stats.js';
import type { Report } from '../diagnostics/log-facts.js';
import { type StoredRecord, type Taken, textOfHome } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';
import type { CommittedWrite } from '../stores/watched-store.js';
import { type DueKind, LEASE_MS } from './due-kind.js';
import { type HandlerOptions, RecordHandler } from './record-handler.js';

/** Most records that are taken together, and homes whose records are handled at once. */
const TAKEN = 64;
const LANES = 16;
/** Longest time between two looks while a record is pending, in milliseconds. Clocks jump, and other gateways write records. */
const LOOK_MS = 1000;
/** Time between two takes, in milliseconds. Each take is a write, so new records are gathered meanwhile. */
const GATHER_MS = 20;

/** A record that is due, with the time by the store's clock. */
interface DueRecord {
  readonly record: StoredRecord;
  readonly now: number;
}

/** Options of `DueWorker`. */
export interface DueOptions extends HandlerOptions {
  readonly store: Pick<Store, 'takeDue' | 'records' | 'changeRecords' | 'shared'>;
}

/** Handles due records, as one of the gateways on a store. One of them takes each record once it is due. */
export class DueWorker {
  readonly #store: DueOptions['store'];
  readonly #report: Report;
  readonly #handler: RecordHandler;
  #timer: NodeJS.Timeout | null = null;
  /** Time of the next look, by the monotonic clock. */
  #lookAt = Number.POSITIVE_INFINITY;
  #tookAt = Number.NEGATIVE_INFINITY;
  #taking: Promise<void> | null = null;
  /** The lanes at work. */
  readonly #lanes = new Set<Promise<void>>();
  /** The taken records that are not handled yet, by their home. */
  readonly #homes = new Map<string, { isAtWork: boolean; readonly queue: DueRecord[] }>();
  #state: 'new' | 'running' | 'stopped' = 'new';
  #hasFailed = false;

  constructor(options: DueOptions) {
    this.#store = options.store;
    this.#report = options.report;
    this.#handler = new RecordHandler(options, (at) => this.expect(at));
  }

  /** Says how a kind of records is worked off. */
  on(name: string, kind: DueKind): void {
    this.#handler.on(name, kind);
  }

  /** How often each outcome came so far. */
  get outcomes(): readonly DueCount[] {
    return this.#handler.outcomes;
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#look(0);
  }

  /**
   * Takes no more records. Resolves once those taken are handled, or after this many milliseconds: other gateways take the rest. Work that has lanes of its
   * own is cut off after `asideMs`.
   */
  async stop(ms: number, asideMs = ms): Promise<void> {
    this.#state = 'stopped';
    if (this.#timer) clearTimeout(this.#timer);
    const ended = async (): Promise<void> => {
      await this.#taking;
      await Promise.all(this.#lanes);
    };
    await within(ended(), ms);
    await this.#handler.stop(asideMs);
  }

  /** Expects the records that were written to fall due. */
  committed({ records }: CommittedWrite): void {
    for (const { dueAt, value } of records)
      if (dueAt !== undefined && value !== undefined) this.expect(dueAt);
  }

  /** Expects a record to fall due at a time of the store's clock, in milliseconds since the epoch. */
  expect(at: number): void {
    this.#look(at - storeTime(this.#store));
  }

  #look(inMs: number): void {
    const gathering = this.#tookAt + GATHER_MS - performance.now();
    const ms = Math.min(Math.max(0, gathering, inMs), LOOK_MS);
    const at = performance.now() + ms;
    if (this.#state !== 'running' || at >= this.#lookAt) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#lookAt = at;
    this.#timer = setTimeout(this.#wake, ms).unref();
  }

  readonly #wake = (): void => {
    this.#timer = null;
    this.#lookAt = Number.POSITIVE_INFINITY;
    // The next lane that becomes free looks again.
    if (this.#lanes.size === LANES) return;
    // The take that is under way may not see what is expected now.
    if (this.#taking) return this.#look(GATHER_MS);
    this.#taking = this.#fill().finally(() => {
      this.#taking = null;
    });
  };

  /** Takes what is due and begins it, as far as lanes are free. */
  async #fill(): Promise<void> {
    const taken = await this.#take();
    if (!taken) return this.#look(LOOK_MS);
    const { records, nextAt, now } = taken;
    this.#tookAt = performance.now();
    for (const record of records) this.#queue(record, now);
    for (const [home, { isAtWork }] of this.#homes)
      if (!isAtWork && this.#lanes.size < LANES) this.#open(home);
    // More may be due, and lanes may be free.
    if (records.length > 0) this.#look(0);
    else if (nextAt !== null || this.#store.shared) this.#look((nextAt ?? Number.POSITIVE_INFINITY) - now);
  }

  /** Queues a record behind earlier ones of its home. A record that was taken again meanwhile replaces itself. */
  #queue(record: StoredRecord, now: number): void {
    const key = textOfHome(record.home);
    const home = this.#homes.get(key) ?? { isAtWork: false, queue: [] };
    const due = { record, now };
    const at = home.queue.findIndex(({ record: { kind, id } }) => kind === record.kind && id === record.id);
    if (at === -1) home.queue.push(due);
    else home.queue[at] = due;
    this.#homes.set(key, home);
  }

  /** Opens a lane, which works off one home after the other. */
  #open(first: string): void {
    const lane = (async () => {
      let home: string | undefined = first;
      for (; home !== undefined; home = this.#nextHome()) await this.#workOff(home);
    })().finally(() => {
      const wasFull = this.#lanes.size === LANES;
      this.#lanes.delete(lane);
      if (wasFull) this.#look(0);
    });
    this.#lanes.add(lane);
  }

  #nextHome(): string | undefined {
    for (const [home, { isAtWork }] of this.#homes) if (!isAtWork) return home;
    return undefined;
  }

  /** Handles the records of one home in the order in which they were due. */
  async #workOff(home: string): Promise<void> {
    const due = this.#homes.get(home)!;
    due.isAtWork = true;
    for (let next = due.queue.shift(); next; next = due.queue.shift()) {
      // A store that answers at once would not let other work run.
      await nextTurn();
      await this.#handler.handle(next.record, next.now);
    }
    this.#homes.delete(home);
  }

  async #take(): Promise<Taken | null> {
    try {
      const taken = await this.#store.takeDue({ limit: TAKEN, leaseMs: LEASE_MS });
      this.#hasFailed = false;
      return taken;
    } catch (error) {
      // An unreachable store fails every second. Report only the first failure.
      if (!this.#hasFailed) this.#report(error, 'taking what is due');
      this.#hasFailed = true;
      return null;
    }
  }
}
