import type { Delta } from './application.js';

/** Events that a run yields as they are pushed. */
export class Pipe {
  #events: Delta[] = [];
  #wake: (() => void) | undefined;

  push(event: Delta): void {
    this.#events.push(event);
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Delta, void, undefined> {
    for (;;) {
      const events = this.#events;
      this.#events = [];
      for (const event of events) yield event;
      if (this.#events.length === 0)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
