import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { grantName } from '../../shared/grants.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { userScope } from './scope.js';
import type { Identity, UserLike } from './types.js';

/** Why things end whose caller is good, and does not reach the session any more. */
export const UNREACHED = new GatewayError({ code: 'SESSION_NOT_FOUND' });

/** Something that a caller has open: a connection, a stream of a method, an answer of a plugin. */
export interface OpenThing {
  /** Who has it open, by what was known last. */
  readonly identity: Identity;
  /** The caller was asked about again. What it may not have any more, it is to lose. @throws GatewayError to end it */
  renew?(identity: Identity): MaybePromise<void>;
  /** The sessions that it is open on, as its caller names them. */
  readonly sessionIds?: readonly string[];
  /** Ends it: its caller was withdrawn, for this reason where there is one. */
  end(why?: unknown): void;
}

/** Whose things to end: a user, or everybody with an id, whatever the tenant. */
export type DisconnectTarget = UserLike | { readonly userId: string };

export interface PresenceOptions {
  /** Milliseconds within which a caller with something open is asked about again; `Infinity` for never. */
  readonly revalidateMs: number;
  /** Asks about a caller. @throws GatewayError to withdraw it */
  revalidate(identity: Identity): MaybePromise<Identity>;
  /** Told why something was ended. */
  onWithdrawn(identity: Identity, error: unknown): void;
  /** Told that a caller could not be asked about. */
  report(error: unknown, what: string): void;
}

interface Entry {
  readonly thing: OpenThing;
  dueAt: number;
  asking: boolean;
}

/** Callers asked about at the same time: whoever answers is not to meet all of them at once. */
const AT_ONCE = 64;
const TICK_MS = 1000;

/**
 * All that callers have open. Within a bound each caller is asked about again, and one who was withdrawn loses what it has. That
 * nobody can be asked, because the host's own services are away, withdraws nobody: the next round asks again.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #entries = new Map<OpenThing, Entry>();
  #timer: NodeJS.Timeout | undefined;
  #asking = 0;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Takes something in until what this returns is called. */
  add(thing: OpenThing): () => void {
    this.#entries.set(thing, { thing, dueAt: this.#next(), asking: false });
    this.#timer ??= this.#start();
    return () => {
      this.#entries.delete(thing);
      if (this.#entries.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Ends all that a user has open, and returns how much that was. */
  disconnect(target: DisconnectTarget): number {
    const matches = matcherOf(target);
    const found = [...this.#entries.keys()].filter(({ identity }) => matches(identity));
    for (const thing of found) this.#end(thing);
    return found.length;
  }

  /** Ends all that is open by a grant, which is over. */
  endGrant(grantId: string): void {
    const isBy = ({ sessionIds = [], identity: { guest } }: OpenThing): boolean =>
      guest?.grantId === grantId || sessionIds.some((id) => id.endsWith(grantName(grantId)));
    for (const thing of [...this.#entries.keys()]) if (isBy(thing)) this.#end(thing, UNREACHED);
  }

  #start(): NodeJS.Timeout {
    const { revalidateMs } = this.#options;
    return setInterval(() => this.#tick(), Math.min(TICK_MS, Math.max(5, revalidateMs / 4))).unref();
  }

  // Before the bound is over, so that the answer comes within it; spread, so that what opened together does not ask together.
  #next(): number {
    return performance.now() + this.#options.revalidateMs * (0.6 + Math.random() * 0.3);
  }

  #tick(): void {
    const now = performance.now();
    for (const [thing, entry] of this.#entries) {
      const { expiresAt } = thing.identity;
      if (expiresAt !== undefined && Date.now() >= expiresAt) this.#end(thing);
      else if (entry.dueAt <= now && !entry.asking && this.#asking < AT_ONCE) void this.#ask(entry);
    }
  }

  async #ask(entry: Entry): Promise<void> {
    const { thing } = entry;
    entry.asking = true;
    this.#asking += 1;
    try {
      const identity = await this.#options.revalidate(thing.identity);
      if (this.#entries.has(thing)) await thing.renew?.(identity);
    } catch (error) {
      if (!this.#entries.has(thing)) return;
      if (isWithdrawal(error)) {
        this.#options.onWithdrawn(thing.identity, error);
        this.#end(thing, error);
      } else this.#options.report(error, 'a caller could not be asked about again');
    } finally {
      this.#asking -= 1;
      entry.asking = false;
      entry.dueAt = this.#next();
    }
  }

  #end(thing: OpenThing, why?: unknown): void {
    this.#entries.delete(thing);
    try {
      thing.end(why);
    } catch (error) {
      this.#options.report(error, 'what a withdrawn caller had open could not be ended');
    }
  }
}

/** Whether an error says that the caller is not what it was, rather than that nobody could find out. */
function isWithdrawal(error: unknown): boolean {
  return isGatewayError(error) && error.status >= 400 && error.status < 500 && error.status !== 429;
}

/** Whether an identity is whom a host means. */
export function matcherOf(target: DisconnectTarget): (identity: Identity) => boolean {
  const { userId, id } = target as { readonly userId?: unknown; readonly id?: unknown };
  if (typeof userId === 'string') return ({ user }) => user.id === userId;
  if (typeof id !== 'string') return () => false;
  const key = userScope(target as never);
  return ({ userKey }) => userKey === key;
}
