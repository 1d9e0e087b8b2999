import type { NoteOptions, Notes } from './shared-store.js';

const MAX_NOTES = 50_000;
/** Least time between two searches for expired notes, in milliseconds. */
const SWEEP_MS = 30_000;

interface Note {
  readonly value: string;
  readonly until: number;
}

/** Notes that are kept in this process. */
export class LocalNotes implements Notes {
  /** Oldest first. */
  readonly #notes = new Map<string, Note>();
  #sweptAt = Date.now();

  put(name: string, value: string, { ttlMs, once = false }: NoteOptions): boolean {
    if (once && this.get(name) !== null) return false;
    this.#sweep();
    this.#notes.delete(name);
    const [oldest] = this.#notes.keys();
    if (oldest !== undefined && this.#notes.size >= MAX_NOTES) this.#notes.delete(oldest);
    this.#notes.set(name, { value, until: Date.now() + ttlMs });
    return true;
  }

  get(name: string): string | null {
    const note = this.#notes.get(name);
    return note && note.until > Date.now() ? note.value : null;
  }

  drop(name: string): void {
    this.#notes.delete(name);
  }

  #sweep(): void {
    const now = Date.now();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [name, { until }] of this.#notes) if (until <= now) this.#notes.delete(name);
  }
}
