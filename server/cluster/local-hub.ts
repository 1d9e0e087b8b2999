import type { NoteOptions, SharedStore } from '../stores/shared-store.js';

const MAX_NOTES = 50_000;
/** Shortest time between two searches for expired notes, in milliseconds. */
const SWEEP_MS = 30_000;

interface Note {
  readonly value: string;
  readonly until: number;
}

/** The hub of a gateway with its own store. The gateway is the only member, and its notes are in memory. */
export class LocalHub implements SharedStore {
  readonly leaseMs = Number.POSITIVE_INFINITY;
  readonly skewMs = 0;
  /** Notes, the oldest first. */
  readonly #notes = new Map<string, Note>();
  #sweptAt = Date.now();

  join({ holder: own }: Parameters<SharedStore['join']>[0]): ReturnType<SharedStore['join']> {
    return {
      alive: (holder) => holder === own,
      members: () => [own],
      tell: () => false,
      leave: () => {},
    };
  }

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

  followers(): number {
    return 0;
  }

  held(): readonly [] {
    return [];
  }

  #sweep(): void {
    const now = Date.now();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [name, { until }] of this.#notes) if (until <= now) this.#notes.delete(name);
  }
}
