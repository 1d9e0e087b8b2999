import type { Appends } from './appending.js';

export interface Flood {
  readonly do: 'flood';
  readonly ms: number;
  readonly sessions: number;
  readonly perTurn: number;
  readonly atLeast?: number;
}

/** Events of session `s0` when they are due, whatever becomes of those before. */
export interface Pace {
  readonly do: 'pace';
  readonly ms: number;
  readonly everyMs: number;
}

/** What a peer's process is told, one at a time. */
export type ServerCommand =
  | Flood
  | Pace
  /** Counts CPU from now on; `flood` does too. */
  | { readonly do: 'zeroCpu' }
  | { readonly do: 'cpu' }
  /** Memory after a collection of garbage. */
  | { readonly do: 'memory' }
  /** Memory as it is. */
  | { readonly do: 'rss' }
  | { readonly do: 'store'; readonly events: number }
  | { readonly do: 'idle'; readonly sessions: number }
  | { readonly do: 'age'; readonly sessions: number; readonly message: string }
  | ({ readonly do: 'append' } & Appends)
  | { readonly do: 'exit' };

export interface Memory {
  readonly rss: number;
  /** Of the JavaScript heap, and outside of it for its objects. */
  readonly heap: number;
}

/** Answers by command; the others are answered by an empty object. */
export interface ServerAnswers {
  readonly flood: { readonly emitted: number; readonly startedAt: number };
  readonly pace: { readonly emitted: number; readonly micros: number };
  readonly cpu: { readonly micros: number };
  readonly append: { readonly micros: number };
  readonly memory: Memory;
  readonly rss: Memory;
}
