import { StoreError } from '../append.js';
import type { HeldPage, Member, Membership, SessionHolder, SharedStore } from '../shared-store.js';
import { StoreClock } from '../skew.js';
import { type Keys, PARTITIONS, refOfSid } from './keys.js';
import type { Link } from './link.js';
import { BEAT, LIVING } from './scripts/members.js';

/** The number of renewals within a lease. */
const BEATS = 3;

interface MembershipParts {
  readonly link: Link;
  readonly keys: Keys;
}

/** Gateways that use the same keys of a Redis. */
export class RedisMembers implements SharedStore {
  readonly leaseMs: number;
  readonly #parts: () => MembershipParts;
  readonly #stops = new Set<() => void>();
  readonly #clock = new StoreClock();
  /** The time from which others may be judged, since the clock of Redis was set; monotonic milliseconds. */
  #judgesFrom = 0;

  /** @param parts The parts of the store, once it is open */
  constructor(leaseMs: number, parts: () => MembershipParts) {
    this.leaseMs = leaseMs;
    this.#parts = parts;
  }

  get skewMs(): number {
    return this.#clock.skewMs;
  }

  async join(member: Member): Promise<Membership> {
    const { link, keys } = this.#parts();
    const { holder, hear, away, lapsed } = member;
    const mail = keys.mail(holder);
    let isMember = true;
    let isBeating = false;
    let heardAt = Number.POSITIVE_INFINITY;
    let missed = 0;
    await link.subscribe(mail, (message) => isMember && hear(message));
    const beat = async (): Promise<void> => {
      if (isBeating || !isMember) return;
      isBeating = true;
      try {
        const asked = performance.now();
        const latest = Math.round(this.#clock.now ?? 0);
        const answer = await link.run(BEAT.call(keys, { holder, lease: this.leaseMs, latest }));
        const [hadLapsed, time] = answer as readonly number[];
        this.#saw(time!);
        this.#clock.told(time!, asked);
        const now = performance.now();
        // Redis reports a lapse only once, and that reply may have been lost.
        const isLate = now - heardAt >= this.leaseMs;
        const isFirst = heardAt === Number.POSITIVE_INFINITY;
        heardAt = now;
        missed = 0;
        if ((hadLapsed === 1 || isLate) && !isFirst && isMember) lapsed();
      } finally {
        isBeating = false;
      }
    };
    try {
      await beat();
    } catch (error) {
      // A second attempt would subscribe twice.
      isMember = false;
      throw error;
    }
    const goOn = (): void => void beat().catch(() => {});
    const timer = setInterval(() => {
      // Counts unanswered beats and no time: a process that stood still has not tried.
      if (++missed === BEATS + 1) away();
      goOn();
    }, this.leaseMs / BEATS).unref();
    const forget = link.watch({ resumed: goOn, replaced: lapsed });
    const stop = (): void => {
      isMember = false;
      clearInterval(timer);
      forget();
      this.#stops.delete(stop);
    };
    this.#stops.add(stop);
    return {
      members: async () => {
        const living = await this.#living();
        return living
          ? [...living]
          : ((await link.send(keys.nodes, ['ZRANGE', keys.nodes, '0', '-1'])) as string[]);
      },
      tell: async (other, message) => {
        const heard = await link.once(keys.mail(other), ['SPUBLISH', keys.mail(other), message]);
        if (heard === null)
          throw new StoreError('UNKNOWN', 'Redis did not say whether the other gateway heard the message');
        return Number(heard) > 0;
      },
      leave: async () => {
        stop();
        try {
          await link.send(keys.nodes, ['ZREM', keys.nodes, holder]);
          await link.unsubscribe(mail);
        } catch {
          // Members that cannot be told now find out when the lease ends. An unsubscribed channel waits for Redis, however long it is away.
        }
      },
    };
  }

  /** Notes a time that Redis told. Nobody is judged before all leases are renewed if its clock was set. */
  #saw(time: number): void {
    if (this.#clock.isSet(time, this.leaseMs / 2)) this.#judgesFrom = performance.now() + this.leaseMs;
  }

  /**
   * The living members; null while nobody can be judged: after an outage of Redis, or where its clock was set, all leases may have run out at
   * once.
   */
  async #living(): Promise<ReadonlySet<string> | null> {
    const { link, keys } = this.#parts();
    const [time, living] = (await link.run(LIVING.call(keys, {}))) as [string, string[]];
    this.#saw(Number(time));
    // Judged when the reply is here and not when it was requested, since it may have waited for Redis to come back.
    const now = performance.now();
    return now - link.connectedAt < this.leaseMs || now < this.#judgesFrom ? null : new Set(living);
  }

  /** The dead ones of these holders. */
  async dead(holders: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    if (holders.size === 0) return holders;
    const living = await this.#living();
    return new Set(living ? [...holders].filter((holder) => !living.has(holder)) : []);
  }

  /** Ends the work of this process's members. */
  stop(): void {
    for (const stop of this.#stops) stop();
  }

  async held({ limit, after, holder }: HeldPage): Promise<readonly SessionHolder[]> {
    const { link, keys } = this.#parts();
    const last = after && keys.session(after);
    const found: SessionHolder[] = [];
    for (let i = last?.partition ?? 0; i < PARTITIONS && found.length < limit; i++) {
      const { held } = keys.partition(i);
      const pairs = (await link.send(held, ['HGETALL', held])) as string[];
      const holders = new Map<string, string>();
      for (let at = 0; at < pairs.length; at += 2) holders.set(pairs[at]!, pairs[at + 1]!);
      for (const sid of [...holders.keys()].sort()) {
        if (i === last?.partition && sid <= last.sid) continue;
        const by = holders.get(sid)!;
        if (holder === undefined || by === holder) found.push({ ...refOfSid(sid), holder: by });
      }
    }
    return found.slice(0, limit);
  }
}
