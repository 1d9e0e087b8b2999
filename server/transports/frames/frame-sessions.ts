import type { FrameSession } from './frame-session.js';

/** Every open socket that speaks frames, also those that have not introduced themselves. */
export class FrameSessions {
  readonly #open = new Set<FrameSession>();
  readonly #unknown = new Set<FrameSession>();
  readonly #handshakes: number;
  #emptied: (() => void) | null = null;

  /** @param handshakes Sockets that may be open at once without having said who they are. */
  constructor(handshakes: number) {
    this.#handshakes = handshakes;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether no more strangers are let in. */
  get full(): boolean {
    return this.#unknown.size >= this.#handshakes;
  }

  add(session: FrameSession): void {
    this.#open.add(session);
    this.#unknown.add(session);
  }

  /** It is known who is at the other end. */
  identified(session: FrameSession): void {
    this.#unknown.delete(session);
  }

  delete(session: FrameSession): void {
    this.#open.delete(session);
    this.#unknown.delete(session);
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
