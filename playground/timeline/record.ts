import type { GatewayEvent } from 'agent-session-gateway/client';
import { type Account, EMPTY_LEDGER, enter, type Ledger } from '../network/ledger.js';

/** An event as it arrived at the page. */
export interface Recorded {
  readonly event: GatewayEvent;
  /** Milliseconds since the page was loaded. */
  readonly at: number;
  /** Bytes of its JSON. */
  readonly size: number;
  /** Number of events that its row stands for, and the last of them. */
  readonly count?: number;
  readonly through?: Recorded;
}

/** One loss of the connection, with its duration. */
export interface Outage {
  /** Milliseconds since the page was loaded. */
  readonly at: number;
  readonly ms: number;
}

/** The events of a session that the page got, and their counts. */
export interface RecordState {
  readonly entries: readonly Recorded[];
  /** Number of events before the first entry, which the page dropped. */
  readonly dropped: number;
  readonly account: Account;
  readonly outages: readonly Outage[];
}

/** Most events that the page keeps, the latest. */
const MOST_ENTRIES = 20_000;

/** Listeners are told so often at most, in milliseconds: what they show is read, and not looked at frame by frame. */
const TELL_MS = 200;

const encoder = new TextEncoder();

/** Records the events of one session, and notifies listeners a few times a second at most. */
export class SessionRecord {
  #entries: Recorded[] = [];
  #dropped = 0;
  #ledger: Ledger = EMPTY_LEDGER;
  #outages: Outage[] = [];
  #down: number | undefined;
  #state: RecordState = { entries: [], dropped: 0, account: EMPTY_LEDGER.account, outages: [] };
  #due = false;
  readonly #listeners = new Set<() => void>();

  /** Cursor of the last event. A connection that begins there misses nothing. */
  cursor: string | undefined;

  readonly getSnapshot = (): RecordState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  take(event: GatewayEvent): void {
    // Presence is in no log.
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

  /** Notes that the connection was lost. */
  down(): void {
    this.#down ??= performance.now();
  }

  /** Notes that the connection is back. */
  up(): void {
    if (this.#down === undefined) return;
    this.#outages = [...this.#outages, { at: this.#down, ms: performance.now() - this.#down }];
    this.#down = undefined;
    this.#tell();
  }

  #tell(): void {
    if (this.#due) return;
    this.#due = true;
    // A timer instead of an animation frame, because a hidden page draws none and still counts.
    setTimeout(() => {
      this.#due = false;
      this.#state = {
        entries: this.#entries.slice(),
        dropped: this.#dropped,
        account: this.#ledger.account,
        outages: this.#outages,
      };
      for (const listener of this.#listeners) listener();
    }, TELL_MS);
  }
}
