import type { Identity } from './types.js';

interface Kept {
  readonly identity: Identity;
  /** Epoch milliseconds. Before, where the clock is set back, the token may not be good yet. */
  readonly since: number;
}

/** How much is kept: by number, and by the characters of the tokens, which may be long. */
export interface KeptBounds {
  /** @default 10_000 */
  readonly entries?: number | undefined;
  /** @default 8_388_608 */
  readonly characters?: number | undefined;
}

/**
 * Identities by the token that proved them: a token that comes again until it expires is not verified again. Only for tokens that nobody
 * can withdraw. Two generations: what was not seen for half of the room is forgotten, without a scan.
 *
 * Found by the text itself. That tells nobody how much of a guess was right: a map compares texts whose seeded hashes are equal.
 */
export class KeptIdentities {
  readonly #entries: number;
  readonly #characters: number;
  #recent = new Map<string, Kept>();
  #older = new Map<string, Kept>();
  #length = 0;

  constructor({ entries = 10_000, characters = 8 * 1024 * 1024 }: KeptBounds = {}) {
    this.#entries = entries;
    this.#characters = characters;
  }

  /** Tokens that are kept. */
  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  /** Whose token it is, where that is known and still true. @param now Epoch milliseconds */
  find(token: string, now: number): Identity | undefined {
    const recent = this.#recent.get(token);
    const kept = recent ?? this.#older.get(token);
    if (kept === undefined || now < kept.since || now >= (kept.identity.expiresAt ?? Infinity))
      return undefined;
    if (recent === undefined) this.#add(token, kept);
    return kept.identity;
  }

  keep(token: string, identity: Identity, now: number): void {
    this.#add(token, { identity, since: now });
  }

  #add(token: string, kept: Kept): void {
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
