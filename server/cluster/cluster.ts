import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { ErrorBody } from '../../shared/gateway-error.js';
import { atOnce } from '../async/at-once.js';
import { every, within } from '../async/deadline.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Membership, SharedStore } from '../stores/shared-store.js';
import type { SessionRef } from '../stores/stored.js';
import { Errands, errand } from './errands.js';
import { firstFor } from './rendezvous.js';

/** Longest wait for a reply before a question is asked again, in milliseconds; never longer than a lease. */
const ASK_MS = 2000;
/** The same wait if the store did not say whether the question was delivered. */
const UNSURE_MS = 250;
/** Sessions that are taken up at once. Each take waits for the store several times. */
export const TAKEN_AT_ONCE = 16;
/** Time that a reply is remembered for repeated questions, in milliseconds; longer than any asker tries. */
const REMEMBERED_MS = 20_000;

/** Asks a member whether it serves a session with a run of a version. */
const SERVES = errand<{ readonly ref: SessionRef; readonly version: string }, boolean>('serves');

/** A question to the gateway that holds a session, or to a gateway by its name. */
export interface WorkQuestion {
  /** The same id each time it is asked, so that it is answered once. */
  readonly id: string;
  /** Null for an errand, which belongs to no session. */
  readonly ref: SessionRef | null;
  /** A JSON value. */
  readonly input: unknown;
}

/** The fate of a question: done; not held there; not delivered, and so surely not done; or perhaps delivered, without a reply. */
export type Reply =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'not-held' | 'unheard' | 'silent' };

/** Messages of members to one another. */
type Mail =
  | (WorkQuestion & { readonly from: string })
  | { readonly re: string; readonly ok: unknown }
  | { readonly re: string; readonly error: ErrorBody }
  | { readonly re: string; readonly notHeld: true }
  | { readonly take: SessionRef; readonly asked: readonly string[] }
  | { readonly taken: SessionRef };

export interface ClusterOptions {
  /** The hub of the members. A single gateway has a local one. */
  readonly shared: SharedStore;
  readonly holder: string;
  /** Does the work that another gateway asks for. @returns null if the session is not held here */
  serve(ref: SessionRef, input: unknown): Promise<{ readonly output: unknown } | null>;
  /** Whether a session can be taken up here, with an active run of this version of its app. @param version @default any */
  serves(ref: SessionRef, version?: string): boolean;
  /** Takes up a session that was handed over, or left by a member that died. Never rejects. */
  take(ref: SessionRef, from: string): Promise<void>;
  /** Called when another member took a session that may have been held here. */
  taken(ref: SessionRef): void;
  /** Sessions with work that no living gateway holds, with their last holder, if any. */
  orphans(): MaybePromise<readonly (SessionRef & { readonly from?: string })[]>;
  /** Called when the store could not be reached for a lease. */
  away(): void;
  /** Called when the store is reached again. Other gateways may hold the sessions held here by now. */
  lapsed(): void;
  report(error: unknown, what: string): void;
}

/**
 * The gateways on one store. Asks the other members about sessions they hold, answers their questions, and takes up the sessions of dead
 * ones. A gateway with its own store is the only member.
 */
export class Cluster {
  readonly errands: Errands;
  readonly #options: ClusterOptions;
  #membership: Membership | null = null;
  readonly #asked = new Map<string, (reply: Mail) => void>();
  readonly #answers = new Map<string, Promise<Mail & { readonly re: string }>>();
  /** Orphans that another member was to take first, with the time they were first seen. */
  readonly #left = new Map<string, number>();
  #sweeper: NodeJS.Timeout | undefined;
  #sweeping = false;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.errands = new Errands(this, options.holder);
    this.errands.on(SERVES, ({ ref, version }) => options.serves(ref, version));
  }

  /** The hub of the members. */
  get shared(): SharedStore {
    return this.#options.shared;
  }

  /** Whether this gateway is a member. Others answer only members. */
  get joined(): boolean {
    return this.#membership !== null;
  }

  /** Time for which a silent member counts as alive, in milliseconds. */
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
   * Asks a holder a question.
   *
   * @throws GatewayError the error that the holder replied with
   */
  async ask(holder: string, question: WorkQuestion): Promise<Reply> {
    const { id } = question;
    // Wait before asking: the reply may come first.
    const replied = new Promise<Mail>((resolve) => this.#asked.set(id, resolve));
    try {
      const heard = await this.#tell(holder, { ...question, from: this.#options.holder }).catch(() => null);
      if (heard === false) return { kind: 'unheard' };
      // If the store did not say, the question may have been delivered all the same. Asking again soon is safe, because it is done once.
      const ms = heard ? ASK_MS : UNSURE_MS;
      if (!(await within(replied, Math.min(ms, this.#options.shared.leaseMs)))) return { kind: 'silent' };
      const reply = await replied;
      if ('error' in reply) throw GatewayError.fromJSON(reply.error);
      return 'ok' in reply ? { kind: 'done', output: reply.ok } : { kind: 'not-held' };
    } finally {
      this.#asked.delete(id);
    }
  }

  /** Whether another gateway is known to be alive. */
  hasOthers(): Promise<boolean> {
    return this.others().then(
      ({ length }) => length > 0,
      () => false,
    );
  }

  /** Whether a holder may be alive. True if that can't be determined now. */
  async alive(holder: string): Promise<boolean> {
    try {
      return (await this.#membership?.members())?.includes(holder) ?? true;
    } catch {
      return true;
    }
  }

  /**
   * Asks another member to take up a session that was let go here. Otherwise a sweep for orphans finds it.
   *
   * @param asked Members that were asked before, and can't take it
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

  /** Another member that has a version of the session's app, which one of this version may not; undefined if none is known. */
  async carrierOf(ref: SessionRef, version: string): Promise<string | undefined> {
    const others = await this.others();
    const carry = await Promise.all(
      others.map((member) =>
        this.errands.ask(member, SERVES, { ref, version }, { waitMs: ASK_MS }).catch(() => undefined),
      ),
    );
    return firstFor(
      ref,
      others.filter((_, at) => carry[at] === true),
    );
  }

  /** Asks a member to take up a session that was let go here. */
  async giveTo(member: string, ref: SessionRef): Promise<void> {
    await this.#tell(member, { take: ref, asked: [this.#options.holder] });
  }

  /** The member that takes up a session given up here; undefined if there is none. */
  async heirOf(ref: SessionRef, asked: readonly string[] = []): Promise<string | undefined> {
    const others = await this.others();
    return firstFor(
      ref,
      others.filter((member) => !asked.includes(member)),
    );
  }

  /** Tells a member that was presumed dead which session it lost, in case it is still running. Never rejects. */
  async tellTaken(ref: SessionRef, from: string): Promise<void> {
    try {
      await this.#tell(from, { taken: ref });
    } catch (error) {
      this.#options.report(error, 'telling another gateway what was taken from it');
    }
  }

  /** Takes up orphaned sessions. One for which another member comes first is left to it for the time of a lease. */
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

  async #answer({ id, from, ref, input }: WorkQuestion & { readonly from: string }): Promise<void> {
    let answer = this.#answers.get(id);
    if (!answer) {
      answer = this.#serve(id, ref, input);
      this.#answers.set(id, answer);
      const { re, ...said } = await answer;
      // A session that is not held here now may be when the question comes again.
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
