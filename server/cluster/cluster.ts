import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { ErrorBody } from '../../shared/gateway-error.js';
import { atOnce } from '../async/at-once.js';
import { every, within } from '../async/deadline.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Membership, SharedStore } from '../stores/shared-store.js';
import type { SessionRef } from '../stores/store.js';
import { Errands } from './errands.js';
import { firstFor } from './rendezvous.js';

/** How long an answer is waited for before the question is asked again, in milliseconds; no longer than a lease. */
const ASK_MS = 2000;
/** The same where the store did not say whether the question was heard. */
const UNSURE_MS = 250;
/** Sessions that are taken up at once: each waits for the store a few times. */
export const TAKEN_AT_ONCE = 16;
/** How long an answer is remembered for those who ask again, in milliseconds: longer than anybody does. */
const REMEMBERED_MS = 20_000;

/** What is asked of the gateway that holds a session, or of one by its name. */
export interface Question {
  /** The same each time it is asked: it is answered once. */
  readonly id: string;
  /** Null for an errand, which belongs to no session. */
  readonly ref: SessionRef | null;
  /** JSON. */
  readonly input: unknown;
}

/** What came of a question: done there; not held there; it was not heard there, and surely not done; or it may have been heard, and nobody said. */
export type Reply =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'not-held' | 'unheard' | 'silent' };

/** Messages of members to one another. */
type Mail =
  | (Question & { readonly from: string })
  | { readonly re: string; readonly ok: unknown }
  | { readonly re: string; readonly error: ErrorBody }
  | { readonly re: string; readonly notHeld: true }
  | { readonly take: SessionRef; readonly asked: readonly string[] }
  | { readonly taken: SessionRef };

export interface ClusterOptions {
  /** What the members share: a hub of its own for a gateway that is the only one. */
  readonly shared: SharedStore;
  readonly holder: string;
  /** Does what another gateway asks. @returns null where the session is not held here */
  serve(ref: SessionRef, input: unknown): Promise<{ readonly output: unknown } | null>;
  /** Whether a session can be taken up here. */
  serves(ref: SessionRef): boolean;
  /** Takes up a session that was handed over, or left by a member that died. Never rejects. */
  take(ref: SessionRef, from: string): Promise<void>;
  /** Another member has taken a session that may have been held here. */
  taken(ref: SessionRef): void;
  /** Sessions with work that no living gateway holds, and who held them: `''` for nobody. */
  orphans(): MaybePromise<readonly (SessionRef & { readonly from?: string })[]>;
  /** The store was not reached for a lease. */
  away(): void;
  /** The store is reached, and what is held here may be held by others. */
  lapsed(): void;
  report(error: unknown, what: string): void;
}

/**
 * The gateways on one store: asks the others for what they hold, answers what they ask, and takes up what the dead have left. A gateway
 * whose store is its own is the only member.
 */
export class Cluster {
  readonly errands: Errands;
  readonly #options: ClusterOptions;
  #membership: Membership | null = null;
  readonly #asked = new Map<string, (reply: Mail) => void>();
  readonly #answers = new Map<string, Promise<Mail & { readonly re: string }>>();
  /** Orphans that somebody else was to take first, by when they were seen. */
  readonly #left = new Map<string, number>();
  #sweeper: NodeJS.Timeout | undefined;
  #sweeping = false;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.errands = new Errands(this, options.holder);
  }

  /** What the members share. */
  get shared(): SharedStore {
    return this.#options.shared;
  }

  /** Whether this gateway is one of them: nobody answers it else. */
  get joined(): boolean {
    return this.#membership !== null;
  }

  /** How long a member passes for alive that is not heard of, in milliseconds. */
  get leaseMs(): number {
    return this.#options.shared.leaseMs;
  }

  /** Becomes a member, once. */
  async join(): Promise<void> {
    if (this.#membership) return;
    const { shared, holder, away, lapsed } = this.#options;
    this.#membership = await shared.join({ holder, away, lapsed, hear: (message) => this.#hear(message) });
    this.#sweeper = every(shared.leaseMs / 2, () => void this.sweep());
  }

  async leave(): Promise<void> {
    clearInterval(this.#sweeper);
    const membership = this.#membership;
    this.#membership = null;
    await membership?.leave();
  }

  /**
   * Asks a holder to do something.
   *
   * @throws GatewayError what it said
   */
  async ask(holder: string, question: Question): Promise<Reply> {
    const { id } = question;
    // From before it is asked: the answer may be here first.
    const replied = new Promise<Mail>((resolve) => this.#asked.set(id, resolve));
    try {
      const heard = await this.#tell(holder, { ...question, from: this.#options.holder }).catch(() => null);
      if (heard === false) return { kind: 'unheard' };
      // Of what the store did not say it may be heard all the same: asked again soon it is done once.
      const ms = heard ? ASK_MS : UNSURE_MS;
      if (!(await within(replied, Math.min(ms, this.#options.shared.leaseMs)))) return { kind: 'silent' };
      const reply = await replied;
      if ('error' in reply) throw GatewayError.fromJSON(reply.error);
      return 'ok' in reply ? { kind: 'done', output: reply.ok } : { kind: 'not-held' };
    } finally {
      this.#asked.delete(id);
    }
  }

  /** Whether a holder may be alive: also where that can't be told now. */
  async alive(holder: string): Promise<boolean> {
    try {
      return (await this.#membership?.alive(holder)) ?? true;
    } catch {
      return true;
    }
  }

  /**
   * Has another member take up what was let go here. Whoever looks for orphans finds it else.
   *
   * @param asked Those that were asked before, and can't
   */
  async handOver(ref: SessionRef, asked: readonly string[] = []): Promise<void> {
    try {
      const next = await this.heirOf(ref, asked);
      const all = [...asked, this.#options.holder];
      if (next !== undefined) await this.#tell(next, { take: ref, asked: all });
    } catch (error) {
      this.#options.report(error, 'handing a session over to another gateway');
    }
  }

  /** Which other member goes on with a session that is given up here; undefined where there is none. */
  async heirOf(ref: SessionRef, asked: readonly string[] = []): Promise<string | undefined> {
    const others = await this.others();
    return firstFor(
      ref,
      others.filter((member) => !asked.includes(member)),
    );
  }

  /** Tells a member that passed for dead what was taken from it: it may be well again by then, and believe that it holds that. Never rejects. */
  async tellTaken(ref: SessionRef, from: string): Promise<void> {
    try {
      await this.#tell(from, { taken: ref });
    } catch (error) {
      this.#options.report(error, 'telling another gateway what was taken from it');
    }
  }

  /** Takes up what nobody holds. What another member comes first for is left to it for a lease. */
  async sweep(): Promise<void> {
    if (this.#sweeping || !this.#membership) return;
    this.#sweeping = true;
    const { orphans, holder, shared, serves, take, report } = this.#options;
    try {
      const members = await this.#membership.members();
      const found = await orphans();
      const now = performance.now();
      const keys = new Set<string>();
      const mine: (SessionRef & { readonly from: string })[] = [];
      for (const { from = '', ...ref } of found) {
        const key = JSON.stringify(ref);
        keys.add(key);
        const seen = this.#left.get(key) ?? now;
        this.#left.set(key, seen);
        const isMine = firstFor(ref, members) === holder || now - seen >= shared.leaseMs;
        if (isMine && serves(ref)) mine.push({ ...ref, from });
      }
      await atOnce(mine, TAKEN_AT_ONCE, async ({ from, ...ref }) => {
        if (this.#membership) await take(ref, from);
      });
      for (const key of this.#left.keys()) if (!keys.has(key)) this.#left.delete(key);
    } catch (error) {
      report(error, 'taking up sessions of other gateways');
    } finally {
      this.#sweeping = false;
    }
  }

  /** The other members that are alive. */
  async others(): Promise<readonly string[]> {
    const members = (await this.#membership?.members()) ?? [];
    return members.filter((member) => member !== this.#options.holder);
  }

  async #tell(holder: string, mail: Mail): Promise<boolean> {
    return (await this.#membership?.tell(holder, JSON.stringify(mail))) ?? false;
  }

  #hear(message: string): void {
    const mail = JSON.parse(message) as Mail;
    if ('re' in mail) this.#asked.get(mail.re)?.(mail);
    else if ('take' in mail) {
      const { serves, take } = this.#options;
      void (serves(mail.take) ? take(mail.take, '') : this.handOver(mail.take, mail.asked));
    } else if ('taken' in mail) this.#options.taken(mail.taken);
    else void this.#answer(mail);
  }

  async #answer({ id, from, ref, input }: Question & { readonly from: string }): Promise<void> {
    let answer = this.#answers.get(id);
    if (!answer) {
      answer = this.#serve(id, ref, input);
      this.#answers.set(id, answer);
      const { re, ...said } = await answer;
      // What is not held here now may be when it is asked again.
      if ('notHeld' in said) this.#answers.delete(re);
      else setTimeout(() => this.#answers.delete(re), REMEMBERED_MS).unref();
    }
    try {
      await this.#tell(from, await answer);
    } catch (error) {
      this.#options.report(error, 'answering another gateway');
    }
  }

  async #serve(re: string, ref: SessionRef | null, input: unknown): Promise<Mail & { readonly re: string }> {
    try {
      if (!ref) return { re, ok: (await this.errands.serve(input)) ?? null };
      const done = await this.#options.serve(ref, input);
      return done ? { re, ok: done.output ?? null } : { re, notHeld: true };
    } catch (error) {
      if (isGatewayError(error)) return { re, error: error.toJSON() };
      this.#options.report(error, 'doing what another gateway asked');
      return { re, error: new GatewayError({ code: 'INTERNAL' }).toJSON() };
    }
  }
}
