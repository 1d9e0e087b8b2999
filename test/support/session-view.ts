import { parseCursor } from '../../shared/cursor.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import type { RawEvent } from './sse-client.js';

/** Messages a snapshot carries. */
const SNAPSHOT_SIZE = 50;
const TRANSIENT = new Set(['connected', 'heartbeat', 'gap', 'snapshot', 'subscribed', 'auth_expired']);

/**
 * What a client knows of one session, and the promises it holds the gateway to: events in one order without hole or repetition,
 * and a gap, said before anything else and followed by a snapshot, wherever that can't be.
 */
export class SessionView {
  readonly id: string;
  state: SessionState = initialState;
  /** Everything up to here was received. Null: wherever the gateway starts. */
  place: { readonly epoch: string; readonly seq: number } | null = null;
  readonly cursors: string[] = [];
  readonly gaps: string[] = [];
  readonly types: string[] = [];
  snapshots = 0;
  /** Events that were known already. Only streams of several sessions may repeat, after a reconnect. */
  repeated = 0;
  #awaitsSnapshot = false;
  #free: boolean;
  readonly #mayRepeat: boolean;

  /** @param place Where a client that knows nothing yet wants to begin: `earliest` must be 1, `open` is anywhere. */
  constructor(
    id: string,
    options: { readonly mayRepeat?: boolean; readonly place?: 'earliest' | 'open' } = {},
  ) {
    this.id = id;
    this.#mayRepeat = options.mayRepeat ?? false;
    this.#free = options.place === 'open';
  }

  /** A connection was opened anew: what was announced and not delivered is not awaited on this one. */
  reconnected(): void {
    this.#awaitsSnapshot = false;
  }

  take({ event, data }: RawEvent): void {
    if (event === 'connected' || event === 'heartbeat' || data.sessionId !== this.id) return;
    this.types.push(event);
    if (event === 'gap') {
      this.gaps.push(data.reason);
      this.#awaitsSnapshot = true;
      return;
    }
    const cursor = data.cursor === undefined ? null : parseCursor(data.cursor);
    if (event === 'snapshot') {
      this.#awaitsSnapshot = false;
      this.snapshots += 1;
      this.state = data.state;
      this.place = cursor;
      this.#free = false;
      return;
    }
    if (TRANSIENT.has(event)) return;
    if (this.#awaitsSnapshot) throw new Error(`${event} came between a gap and its snapshot`);
    if (!cursor) throw new Error(`${event} has no cursor`);
    if (this.#mayRepeat && this.#knows(cursor)) {
      this.repeated += 1;
      return;
    }
    this.#checkPlace(cursor, event);
    this.place = cursor;
    this.#free = false;
    this.cursors.push(data.cursor);
    this.state = reduce(this.state, { type: event, ...data } as GatewayEvent);
  }

  #knows({ epoch, seq }: { epoch: string; seq: number }): boolean {
    if (this.place?.epoch === epoch) return seq <= this.place.seq;
    return this.cursors.some((cursor) => cursor.startsWith(`${epoch}.`) && cursor.endsWith(`.${seq}`));
  }

  #checkPlace(cursor: { epoch: string; seq: number }, event: string): void {
    if (this.#free) return;
    const { epoch, seq } = this.place ?? { epoch: cursor.epoch, seq: 0 };
    if (cursor.epoch === epoch && cursor.seq === seq + 1) return;
    throw new Error(`${event} ${cursor.epoch}.${cursor.seq} came after ${epoch}.${seq} without a gap`);
  }
}

/** The fold of a log, in the form that snapshots and views have. */
export function foldOf(events: readonly GatewayEvent[]): SessionState {
  return events.reduce(reduce, initialState);
}

/** Equal but for how many old messages are carried along. */
export function lastMessages(state: SessionState): SessionState {
  return { ...state, hasMore: false, messages: state.messages.slice(-SNAPSHOT_SIZE) };
}
