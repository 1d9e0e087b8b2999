import { atOnce } from '../async/at-once.js';
import { within } from '../async/deadline.js';
import type { Report } from '../diagnostics/log-facts.js';
import { type StoredRecord, type Taken, textOfHome } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';

/** Most records that are taken together and handled at once. */
const TAKEN = 64;
const LANES = 16;
/** Time after which a record is due again if its handling failed or its gateway died, in milliseconds. */
const LEASE_MS = 15_000;
/** Longest time between two looks while a record is pending, in milliseconds. Clocks jump, and other gateways write records. */
const LOOK_MS = 1000;
/** Time between two takes, in milliseconds. Each take is a write, so new records are gathered meanwhile. */
const GATHER_MS = 20;

/**
 * Handles a due record, and writes or drops it with its token; otherwise it falls due again. Handling a record twice must be safe: the
 * second token fences the first.
 *
 * @param now Time of the store's clock, in milliseconds since the epoch
 */
export type DueHandler = (record: StoredRecord, now: number) => Promise<void>;

export interface DueOptions {
  readonly store: Pick<Store, 'takeDue' | 'shared'>;
  readonly report: Report;
}

/** Handles due records, as one of the gateways on a store. One of them takes each record once it is due. */
export class DueWorker {
  readonly #store: DueOptions['store'];
  readonly #report: Report;
  readonly #handlers = new Map<string, DueHandler>();
  #timer: NodeJS.Timeout | null = null;
  /** Time of the next look, by the monotonic clock. */
  #lookAt = Number.POSITIVE_INFINITY;
  #tookAt = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | null = null;
  #state: 'new' | 'running' | 'stopped' = 'new';
  #hasFailed = false;

  constructor({ store, report }: DueOptions) {
    this.#store = store;
    this.#report = report;
  }

  /** Sets the handler of a kind of records. */
  on(kind: string, handler: DueHandler): void {
    this.#handlers.set(kind, handler);
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#look(0);
  }

  /** Takes no more records. Resolves once those taken are handled, or after this many milliseconds. Other gateways take the rest. */
  async stop(ms: number): Promise<void> {
    this.#state = 'stopped';
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#working) await within(this.#working, ms);
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
    // A worker that is busy looks again when it is done.
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
  };

  async #work(): Promise<void> {
    for (;;) {
      const taken = await this.#take();
      if (!taken) return this.#look(LOOK_MS);
      const { records, nextAt, now } = taken;
      this.#tookAt = performance.now();
      // Records of one home are handled in the order in which they were due.
      await atOnce(byHome(records), LANES, async (ofHome) => {
        for (const record of ofHome) {
          // Yield: a store that answers at once would not let other work run.
          await new Promise(setImmediate);
          await this.#handle(record, now);
        }
      });
      // A handled record may be due again, as missed instants of a schedule are.
      if (records.length === TAKEN && this.#state === 'running') continue;
      if (records.length > 0) return this.#look(0);
      if (nextAt !== null || this.#store.shared) this.#look((nextAt ?? Number.POSITIVE_INFINITY) - now);
      return;
    }
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

  async #handle(record: StoredRecord, now: number): Promise<void> {
    try {
      await this.#handlers.get(record.kind)?.(record, now);
    } catch (error) {
      this.#report(error, `handling the ${record.kind} ${record.id}, which is due again`);
    }
  }
}

function byHome(records: readonly StoredRecord[]): Iterable<readonly StoredRecord[]> {
  const homes = new Map<string, StoredRecord[]>();
  for (const record of records) {
    const home = textOfHome(record.home);
    const known = homes.get(home);
    if (known) known.push(record);
    else homes.set(home, [record]);
  }
  return homes.values();
}
