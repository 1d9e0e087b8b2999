import type { FrameSession } from './frame-session.js';

/** Every open socket that speaks frames, also those that have not introduced themselves. */
export class FrameSessions {
  readonly #open = new Set<FrameSession>();
  #emptied: (() => void) | null = null;

  get size(): number {
    return this.#open.size;
  }

  add(session: FrameSession): void {
    this.#open.add(session);
  }

  delete(session: FrameSession): void {
    this.#open.delete(session);
    if (this.#open.size === 0) this.#emptied?.();
  }

  /** Ends every session once its requests are answered; what is still open after `graceMs` is cut. */
  async end(graceMs: number): Promise<void> {
    for (const session of [...this.#open]) session.end('drain');
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const session of [...this.#open]) session.destroy();
        resolve();
      }, graceMs);
      this.#emptied = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#emptied = null;
  }
}
