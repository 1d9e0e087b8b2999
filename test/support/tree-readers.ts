import type { SessionHandle } from '../../server/index.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import { isGatewayError } from '../../shared/index.js';

/** Somebody who folds a session's events, leaves, and comes back with the last cursor. */
export class FoldingReader {
  state: SessionState = initialState;
  /** How often it was told that something is missing. */
  gaps = 0;
  #from: 'snapshot' | 'earliest';
  #reading: { readonly abort: AbortController; readonly done: Promise<void> } | null = null;
  #moved: (() => void) | null = null;
  #failed: unknown = null;

  constructor(from: 'snapshot' | 'earliest') {
    this.#from = from;
  }

  get reads(): boolean {
    return this.#reading !== null;
  }

  /** Comes, or comes back. */
  come(session: SessionHandle): void {
    const abort = new AbortController();
    this.#reading ??= { abort, done: this.#read(session, abort.signal) };
  }

  async leave(): Promise<void> {
    const reading = this.#reading;
    this.#reading = null;
    reading?.abort.abort();
    await reading?.done;
  }

  /** Resolves once it has everything up to the end of its session. */
  async catchUp(cursorOf: () => Promise<string | null>): Promise<void> {
    while (this.state.cursor !== (await cursorOf())) {
      if (this.#failed) throw this.#failed;
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#moved = resolve;
        }),
        new Promise((resolve) => setTimeout(resolve, 20)),
      ]);
    }
  }

  async #read(session: SessionHandle, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const event of session.events({ from: this.state.cursor ?? this.#from, signal })) {
          if (event.type === 'gap') this.gaps += 1;
          this.state = reduce(this.state, event);
          this.#moved?.();
        }
        return;
      } catch (error) {
        if (isGatewayError(error) && error.code === 'OVERLOADED') continue;
        this.#failed = error;
        this.#moved?.();
        return;
      }
    }
  }
}
