import type { SessionRef } from '../stored.js';
import { type Keys, memberOf, PARTITIONS, pairOf, refOfSid } from './keys.js';
import type { Link } from './link.js';
import { BEGIN_EXPIRY, EXPIRE_LOG, EXPIRE_RUNS } from './scripts/look.js';

/** Runs or logs that are dropped before other work gets a turn. */
const SLICE = 100;
/** Partitions that are searched at once. */
const AT_ONCE = 16;
/** One gateway at a time expires data. Another one takes over after this time without a sign of life, in milliseconds. */
const ONE_AT_A_TIME_MS = 60_000;

/** Drops runs and logs that are too old. */
export class Expiry {
  readonly #link: Link;
  readonly #keys: Keys;

  constructor(link: Link, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** @param drop Drops a closed session whose present log is of this epoch */
  async expire(before: number, drop: (ref: SessionRef, epoch: string) => Promise<boolean>): Promise<void> {
    const { expiring } = this.#keys;
    const mine = await this.#link.run(
      BEGIN_EXPIRY.call({ expiring }, { name: crypto.randomUUID(), ms: ONE_AT_A_TIME_MS }),
    );
    if (mine !== 1) return;
    try {
      for (let first = 0; first < PARTITIONS; first += AT_ONCE) {
        const parts = Array.from({ length: AT_ONCE }, (_, i) => first + i);
        await Promise.all(parts.map((part) => this.#runs(part, before)));
        await Promise.all(parts.map((part) => this.#logs(part, before, drop)));
      }
    } finally {
      await this.#link.send(expiring, ['DEL', expiring]);
    }
  }

  async #old(key: string, before: number): Promise<string[]> {
    const range = ['ZRANGEBYSCORE', key, '-inf', `(${before}`, 'LIMIT', '0', String(SLICE)];
    return (await this.#link.send(key, range)) as string[];
  }

  async #runs(part: number, before: number): Promise<void> {
    const { runs } = this.#keys.partition(part);
    for (let old = await this.#old(runs, before); old.length > 0; old = await this.#old(runs, before)) {
      const bySession = new Map<string, string[]>();
      for (const [runId, sid] of old.map(pairOf)) bySession.set(sid, [...(bySession.get(sid) ?? []), runId]);
      for (const [sid, runIds] of bySession) {
        const session = this.#keys.session(refOfSid(sid));
        await this.#link.run(EXPIRE_RUNS.call(session, { sid, before }, { args: runIds }));
      }
    }
  }

  async #logs(
    part: number,
    before: number,
    drop: (ref: SessionRef, epoch: string) => Promise<boolean>,
  ): Promise<void> {
    const { logs } = this.#keys.partition(part);
    for (let old = await this.#old(logs, before); old.length > 0; old = await this.#old(logs, before)) {
      for (const [epoch, sid] of old.map(pairOf)) {
        const ref = refOfSid(sid);
        if (await drop(ref, epoch)) continue;
        const session = this.#keys.session(ref);
        const keys = { ...session, ...this.#keys.log(session, epoch) };
        await this.#link.run(EXPIRE_LOG.call(keys, { epoch, sid, before }));
      }
    }
  }

  /** Notes that a session has no data left, unless it was begun again. */
  async forget(ref: SessionRef): Promise<void> {
    const key = this.#keys.kept(ref.scope);
    const { meta } = this.#keys.session(ref);
    await this.#link.send(key, ['ZREM', key, memberOf(ref)]);
    if (Number(await this.#link.send(meta, ['EXISTS', meta])) === 1) await this.keep(ref);
  }

  /** Notes that data of a session will be kept. Noted before, so that an erasure of the scope finds it. */
  async keep(ref: SessionRef): Promise<void> {
    const key = this.#keys.kept(ref.scope);
    await this.#link.send(key, ['ZADD', key, '0', memberOf(ref)]);
  }

  /** Sessions of a scope of which any data is kept. */
  async kept(scope: string, limit: number, after: SessionRef | undefined): Promise<string[]> {
    const key = this.#keys.kept(scope);
    const from = after ? `(${memberOf(after)}` : '-';
    return (await this.#link.send(key, [
      'ZRANGEBYLEX',
      key,
      from,
      '+',
      'LIMIT',
      '0',
      String(limit),
    ])) as string[];
  }
}
