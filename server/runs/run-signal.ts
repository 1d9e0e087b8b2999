import { setMaxListeners } from 'node:events';

/** The signal of all work in a run. Made on first use: most apps do not listen to it. */
export class RunSignal {
  #controller: AbortController | null = null;
  #aborted: DOMException | null = null;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // All tools, sleeps and requests of a run listen to it, however many there are.
      setMaxListeners(0, this.#controller.signal);
      if (this.#aborted) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  abort(reason: string): void {
    this.#aborted ??= new DOMException(reason, 'AbortError');
    this.#controller?.abort(this.#aborted);
  }
}
