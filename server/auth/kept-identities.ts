import type { Person } from './types.js';

interface KeptIdentity {
  readonly person: Person;
  /** Epoch milliseconds. If the clock is set back to before, the token may not be good yet. */
  readonly since: number;
}

/** Limits of the kept identities: their number, and the characters of their tokens, which may be long. */
export interface KeptBounds {
  /** @default 10_000 */
  readonly entries?: number | undefined;
  /** @default 8_388_608 */
  readonly characters?: number | undefined;
}

/**
 * Identities by the token that proved them. A repeated token is not verified again until it expires. Only for tokens that nobody can
 * withdraw. There are two generations: a token that is not used while half of the room fills up is forgotten, without a scan.
 *
 * Lookups by the text itself reveal nothing of a guess: a map compares only texts with equal seeded hashes.
 */
export class KeptIdentities {
  readonly #entries: number;
  readonly #characters: number;
  #recent = new Map<string, KeptIdentity>();
  #older = new Map<string, KeptIdentity>();
  #length = 0;

  constructor({ entries = 10_000, characters = 8 * 1024 * 1024 }: KeptBounds = {}) {
    this.#entries = entries;
    this.#characters = characters;
  }

  /** The number of kept tokens. */
  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  /** The identity of a token, if it is kept and still valid. @param now Epoch milliseconds */
  find(token: string, now: number): Person | undefined {
    const recent = this.#recent.get(token);
    const kept = recent ?? this.#older.get(token);
    if (kept === undefined || now < kept.since || now >= (kept.person.expiresAt ?? Infinity))
      return undefined;
    if (recent === undefined) this.#add(token, kept);
    return kept.person;
  }

  keep(token: string, person: Person, now: number): void {
    this.#add(token, { person, since: now });
  }

  #add(token: string, kept: KeptIdentity): void {
    this.#older.delete(token);
    const known = this.#recent.has(token);
    if (!known && (this.#recent.size >= this.#entries / 2 || this.#length >= this.#characters / 2)) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#length = 0;
    }
    if (!known) this.#length += token.length;
    this.#recent.set(token, kept);
  }
}
