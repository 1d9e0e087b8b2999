import type { SessionRef, StoredSize } from '../stored.js';
import { type Keys, refOfMember } from './keys.js';
import type { Link } from './link.js';
import { sizeOfSession } from './session-data.js';

/** The least time for which the total of a scope is believed; writes of this process are added meanwhile. */
const KEPT_MS = 1000;
/** Sessions asked about at once. */
const ASKED = 500;
const SCOPES = 10_000;

interface RedisTotal {
  size: number;
  readonly until: number;
}

/** The size of sessions and scopes. A scope's total is added up from its sessions' sizes in Redis, and then remembered for a while. */
export class RedisUsage {
  readonly #link: Link;
  readonly #keys: Keys;
  readonly #totals = new Map<string, RedisTotal>();
  /** Changes when a total may have changed by an unknown amount. */
  #version = 0;

  constructor(link: Link, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  async of(ref: SessionRef): Promise<StoredSize> {
    const [session, scope] = await Promise.all([this.#session(ref), this.#scope(ref.scope)]);
    return { session, scope };
  }

  /** Counts a write of this process. @param by In characters */
  grow(scope: string, by: number): void {
    const total = this.#totals.get(scope);
    if (total) total.size += by;
  }

  /** Something was dropped. */
  forget(): void {
    this.#totals.clear();
    this.#version += 1;
  }

  async #session(ref: SessionRef): Promise<number> {
    const { meta } = this.#keys.session(ref);
    const answer = (await this.#link.send(meta, ['HMGET', meta, 'cu', 'cz', 'mz', 'pz'])) as (
      | string
      | null
    )[];
    const [cu = null, cz = null, mz = null, pz = null] = answer;
    return sizeOfSession({ cu, cz, mz, pz });
  }

  async #scope(scope: string): Promise<number> {
    const now = performance.now();
    const known = this.#totals.get(scope);
    if (known && known.until > now) return known.size;
    const version = this.#version;
    const key = this.#keys.kept(scope);
    const members = (await this.#link.send(key, ['ZRANGE', key, '0', '-1'])) as string[];
    // An append from here on counts in neither total, or briefly in both.
    let size = 0;
    for (let i = 0; i < members.length; i += ASKED) {
      const refs = members.slice(i, i + ASKED).map((member) => refOfMember(scope, member));
      for (const one of await Promise.all(refs.map((ref) => this.#session(ref)))) size += one;
    }
    if (this.#totals.size >= SCOPES) this.#totals.clear();
    // The total of many sessions is kept longer than that of few.
    const until = now + Math.max(KEPT_MS, members.length);
    if (version === this.#version) this.#totals.set(scope, { size, until });
    return size;
  }
}
