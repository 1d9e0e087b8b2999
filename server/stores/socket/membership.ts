import type { Member, Membership } from '../shared-store.js';
import type { StoreLine } from './store-line.js';

/** Renewals per lease. */
const BEATS = 3;

/** The members of this process at the process that keeps the store. */
export class LineMembers {
  readonly #line: StoreLine;
  readonly #members = new Map<string, Joined>();

  constructor(line: StoreLine) {
    this.#line = line;
  }

  async join(member: Member, leaseMs: number): Promise<Membership> {
    const { holder } = member;
    const line = this.#line;
    this.#members.get(holder)?.end();
    const joined = new Joined(line, member, leaseMs);
    this.#members.set(holder, joined);
    await joined.begin();
    return {
      members: () => line.call('members', []) as Promise<readonly string[]>,
      tell: (other, message) => line.call('tell', [other, message]) as Promise<boolean>,
      leave: async () => {
        joined.end();
        this.#members.delete(holder);
        // If the store cannot be reached, the lease runs out.
        await line.call('leave', [holder]).catch(() => {});
      },
    };
  }

  hear(holder: string, message: string): void {
    this.#members.get(holder)?.member.hear(message);
  }

  /** Called when the line stands again: renews the leases at once. */
  stands(): void {
    for (const joined of this.#members.values()) joined.stands();
  }

  end(): void {
    for (const joined of this.#members.values()) joined.end();
    this.#members.clear();
  }
}

class Joined {
  readonly member: Member;
  readonly #line: StoreLine;
  readonly #leaseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;
  /** Null before the first answer. */
  #heardAt: number | null = null;
  #missed = 0;

  constructor(line: StoreLine, member: Member, leaseMs: number) {
    this.#line = line;
    this.member = member;
    this.#leaseMs = leaseMs;
  }

  async begin(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => {
      // Count unanswered beats instead of time, because a process that stood still has tried nothing.
      if (++this.#missed === BEATS + 1) this.member.away();
      this.#goOn();
    }, this.#leaseMs / BEATS).unref();
  }

  stands(): void {
    if (this.#heardAt !== null) this.#goOn();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#heardAt = null;
  }

  #goOn(): void {
    this.#beat().catch(() => {});
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      const hadLapsed = await this.#line.call('beat', [this.member.holder]);
      const now = performance.now();
      const before = this.#heardAt;
      this.#heardAt = now;
      this.#missed = 0;
      // Compare times too: the store reports a lapse only once, and that answer may have been lost.
      if (before !== null && (hadLapsed || now - before >= this.#leaseMs)) this.member.lapsed();
    } finally {
      this.#isBeating = false;
    }
  }
}
