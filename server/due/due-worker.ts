import { atOnce } from '../async/at-once.js';
import { within } from '../async/deadline.js';
import type { Report } from '../diagnostics/log-facts.js';
import { type StoredRecord, type Taken, textOfHome } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { Store } from '../stores/store.js';

/** Records that are taken together, and handled at once. */
const TAKEN = 64;
const LANES = 16;
/** A record whose handling has failed, or whose gateway has died with it, is due again after so long, in milliseconds. */
const LEASE_MS = 15_000;
/** How long nobody looks at most while something is to be due: clocks jump, and other gateways put records, in milliseconds. */
const LOOK_MS = 1000;
/** Between two takes: each is a write, and what is put meanwhile is taken together, in milliseconds. */
const GATHER_MS = 20;

/**
 * Does what a record is about, and puts or drops it with the token that it has: until then it is due again. One that is handled twice
 * has to come to the same: the second token fences the first.
 *
 * @param now The time by the store's clock, in milliseconds since the epoch
 */
export type DueHandler = (record: StoredRecord, now: number) => Promise<void>;

export interface DueOptions {
  readonly store: Pick<Store, 'takeDue' | 'shared'>;
  readonly report: Report;
}

/** Works off the records that are due, as one of the gateways that do: each is begun once it is due, by one of them. */
export class DueWorker {
  readonly #store: DueOptions['store'];
  readonly #report: Report;
  readonly #handlers = new Map<string, DueHandler>();
  #timer: NodeJS.Timeout | null = null;
  /** When it looks next, by the monotonic clock. */
  #lookAt = Number.POSITIVE_INFINITY;
  #tookAt = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | null = null;
  #state: 'new' | 'running' | 'stopped' = 'new';
  #hasFailed = false;

  constructor({ store, report }: DueOptions) {
    this.#store = store;
    this.#report = report;
  }

  /** Says who handles records of a kind. */
  on(kind: string, handler: DueHandler): void {
    this.#handlers.set(kind, handler);
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#look(0);
  }

  /** Takes nothing more. Resolves once what was taken is handled, or after so many milliseconds: others take that then. */
  async stop(ms: number): Promise<void> {
    this.#state = 'stopped';
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#working) await within(this.#working, ms);
  }

  /** Something is due at a time of the store's clock, in milliseconds since the epoch. */
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
    // One that works looks again when it is done.
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
      // Those of one home are handled in the order in which they were due.
      await atOnce(byHome(records), LANES, async (ofHome) => {
        for (const record of ofHome) {
          // A store that answers at once would not let others get their turn.
          await new Promise(setImmediate);
          await this.#handle(record, now);
        }
      });
      // What was handled may be due again, as the instants are that were missed.
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
      // A store that is away says so each second.
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
