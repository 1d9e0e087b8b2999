import type { GatewayEvent } from 'agent-session-gateway/client';
import { type Account, EMPTY_LEDGER, enter, type Ledger } from '../network/ledger.js';

/** An event as it came to the page. */
export interface Recorded {
  readonly event: GatewayEvent;
  /** Milliseconds since the page was loaded. */
  readonly at: number;
  /** Bytes of its JSON. */
  readonly size: number;
}

/** How often the connection was away, and for how long. */
export interface Outage {
  /** Milliseconds since the page was loaded. */
  readonly at: number;
  readonly ms: number;
}

/** What a page knows of a session's events. */
export interface RecordState {
  readonly entries: readonly Recorded[];
  /** Events that came before the first entry, and are not kept here any more. */
  readonly dropped: number;
  readonly account: Account;
  readonly outages: readonly Outage[];
}

/** Events that the page keeps; of longer sessions the last. */
const MOST_ENTRIES = 20_000;

const encoder = new TextEncoder();

/** The events of one session. Tells of them once a frame. */
export class SessionRecord {
  #entries: Recorded[] = [];
  #dropped = 0;
  #ledger: Ledger = EMPTY_LEDGER;
  #outages: Outage[] = [];
  #down: number | undefined;
  #state: RecordState = { entries: [], dropped: 0, account: EMPTY_LEDGER.account, outages: [] };
  #due = false;
  readonly #listeners = new Set<() => void>();

  /** Place of the last event: a connection that begins there misses nothing. */
  cursor: string | undefined;

  readonly getSnapshot = (): RecordState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  take(event: GatewayEvent): void {
    // Who is there is in no log.
    if (event.type === 'presence') return;
    this.cursor = event.cursor ?? this.cursor;
    this.#ledger = enter(this.#ledger, event);
    this.#entries.push({ event, at: performance.now(), size: encoder.encode(JSON.stringify(event)).length });
    if (this.#entries.length > MOST_ENTRIES) {
      this.#dropped += MOST_ENTRIES / 10;
      this.#entries.splice(0, MOST_ENTRIES / 10);
    }
    this.#tell();
  }

  /** The connection was lost. */
  down(): void {
    this.#down ??= performance.now();
  }

  /** It is there again. */
  up(): void {
    if (this.#down === undefined) return;
    this.#outages = [...this.#outages, { at: this.#down, ms: performance.now() - this.#down }];
    this.#down = undefined;
    this.#tell();
  }

  #tell(): void {
    if (this.#due) return;
    this.#due = true;
    // No frame: a hidden page draws none, and still counts.
    setTimeout(() => {
      this.#due = false;
      this.#state = {
        entries: this.#entries.slice(),
        dropped: this.#dropped,
        account: this.#ledger.account,
        outages: this.#outages,
      };
      for (const listener of this.#listeners) listener();
    }, 50);
  }
}
