import type { Script } from '../peers/peer.js';
import type { Target } from './connection.js';
import type { Percentiles } from './latencies.js';

/** What the load generator is told, one at a time. */
export type Command =
  | { readonly do: 'connect'; readonly scripts: readonly Script[]; readonly target: Target }
  /** Forgets what has been counted. */
  | { readonly do: 'zero'; readonly latencies: boolean }
  /** Waits for so many events in all. */
  | { readonly do: 'count'; readonly events: number; readonly timeoutMs: number }
  /** Sends each client's request once and waits for so many events. */
  | { readonly do: 'fire'; readonly events: number; readonly timeoutMs: number }
  /** Has each client send its request again and again, until so many are answered. */
  | {
      readonly do: 'requests';
      readonly total: number;
      readonly answers: 'http' | 'marked';
      readonly timeoutMs: number;
    }
  /** Sends requests at a rate from now on, by whichever client is free, until the rate is 0. */
  | { readonly do: 'rate'; readonly perSecond: number; readonly answers: 'http' | 'marked' }
  /** What has been counted since the last `zero`. */
  | { readonly do: 'counts' };

export interface Counts {
  readonly events: number;
  /** Events since the clients connected, whatever was forgotten meanwhile. */
  readonly eventsEver: number;
  readonly bytes: number;
  /** Requests that were answered. */
  readonly requests: number;
  /** Answers with a status that is no success. */
  readonly refused: number;
  /** Requests whose turn it was while every client waited for an answer. */
  readonly late: number;
  /** Requests that wait for an answer. */
  readonly waiting: number;
  readonly closed: number;
  /** From the beginning of the command to the last event or answer, in microseconds. */
  readonly micros: number;
  /** When the last event came, on the clock that all processes share. */
  readonly endedAt: number;
  /** CPU of the generator, in microseconds, since the last `zero`. */
  readonly cpu: number;
  /** From the production of an event to its reading. */
  readonly eventLatency: Percentiles;
  /** From a request to the first event of its answer, and to its end. */
  readonly firstLatency: Percentiles;
  readonly answerLatency: Percentiles;
}

export interface Connected {
  readonly ready: number;
}
