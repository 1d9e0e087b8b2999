import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { grantName } from '../../shared/grants.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { userScope } from './scope.js';
import type { Person, UserLike } from './types.js';

/** The reason for ending something whose caller is valid, but no longer reaches the session. */
export const UNREACHED = new GatewayError({ code: 'SESSION_NOT_FOUND' });

/** An open resource of a caller: a connection, a stream of a method, a response of a plugin. */
export interface OpenResource {
  /** The caller's last known identity. */
  readonly person: Person;
  /** Called after the caller was checked again. It must close all that the caller may no longer use. @throws GatewayError to end it */
  renew?(person: Person): MaybePromise<void>;
  /** The sessions that it uses, by the caller's names for them. */
  readonly sessionIds?: readonly string[];
  /** Ends it, because its caller was withdrawn; `why` is the reason, if known. */
  end(why?: unknown): void;
}

/** The caller to disconnect: a user, or everybody with an id, whatever the tenant. */
export type DisconnectTarget = UserLike | { readonly userId: string };

export interface OpenResourceOptions {
  /** Milliseconds within which a caller with something open is checked again; `Infinity` for never. */
  readonly revalidateMs: number;
  /** Checks a caller again. @throws GatewayError to withdraw it */
  revalidate(person: Person): MaybePromise<Person>;
  /** Called with the reason when something was ended. */
  onWithdrawn(person: Person, error: unknown): void;
  /** Called when a caller could not be checked. */
  report(error: unknown, what: string): void;
}

interface PresenceEntry {
  readonly thing: OpenResource;
  dueAt: number;
  asking: boolean;
}

/** The number of callers that are checked at the same time, to spare the service that checks them. */
const AT_ONCE = 64;
const TICK_MS = 1000;

/**
 * All open resources of callers. Each caller is checked again within a time limit, and a withdrawn one loses its resources. If a check
 * fails because the host's own services are away, nobody is withdrawn: the next round repeats it.
 */
export class Presence {
  readonly #options: OpenResourceOptions;
  readonly #entries = new Map<OpenResource, PresenceEntry>();
  #timer: NodeJS.Timeout | undefined;
  #asking = 0;

  constructor(options: OpenResourceOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a resource. Returns a function that removes it. */
  add(thing: OpenResource): () => void {
    this.#entries.set(thing, { thing, dueAt: this.#next(), asking: false });
    this.#timer ??= this.#start();
    return () => {
      this.#entries.delete(thing);
      if (this.#entries.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Ends all open resources of a user, and returns their number. */
  disconnect(target: DisconnectTarget): number {
    const matches = matcherOf(target);
    const found = [...this.#entries.keys()].filter(({ person }) => matches(person));
    for (const thing of found) this.#end(thing);
    return found.length;
  }

  /** Ends all open resources of a grant that is over. */
  endGrant(grantId: string): void {
    const isBy = ({ sessionIds = [], person: { link: guest } }: OpenResource): boolean =>
      guest?.grantId === grantId || sessionIds.some((id) => id.endsWith(grantName(grantId)));
    for (const thing of [...this.#entries.keys()]) if (isBy(thing)) this.#end(thing, UNREACHED);
  }

  #start(): NodeJS.Timeout {
    const { revalidateMs } = this.#options;
    return setInterval(() => this.#tick(), Math.min(TICK_MS, Math.max(5, revalidateMs / 4))).unref();
  }

  // Before the limit, so that the result comes within it. Spread, so that resources that opened together are not checked together.
  #next(): number {
    return performance.now() + this.#options.revalidateMs * (0.6 + Math.random() * 0.3);
  }

  #tick(): void {
    const now = performance.now();
    for (const [thing, entry] of this.#entries) {
      const { expiresAt } = thing.person;
      if (expiresAt !== undefined && Date.now() >= expiresAt) this.#end(thing);
      else if (entry.dueAt <= now && !entry.asking && this.#asking < AT_ONCE) void this.#ask(entry);
    }
  }

  async #ask(entry: PresenceEntry): Promise<void> {
    const { thing } = entry;
    entry.asking = true;
    this.#asking += 1;
    try {
      const person = await this.#options.revalidate(thing.person);
      if (this.#entries.has(thing)) await thing.renew?.(person);
    } catch (error) {
      if (!this.#entries.has(thing)) return;
      if (isWithdrawal(error)) {
        this.#options.onWithdrawn(thing.person, error);
        this.#end(thing, error);
      } else this.#options.report(error, 'a caller could not be asked about again');
    } finally {
      this.#asking -= 1;
      entry.asking = false;
      entry.dueAt = this.#next();
    }
  }

  #end(thing: OpenResource, why?: unknown): void {
    this.#entries.delete(thing);
    try {
      thing.end(why);
    } catch (error) {
      this.#options.report(error, 'what a withdrawn caller had open could not be ended');
    }
  }
}

/** Whether an error means that the caller was withdrawn, rather than that the check failed. */
function isWithdrawal(error: unknown): boolean {
  return isGatewayError(error) && error.status >= 400 && error.status < 500 && error.status !== 429;
}

/** Whether an identity belongs to the target. */
export function matcherOf(target: DisconnectTarget): (person: Person) => boolean {
  const { userId, id } = target as { readonly userId?: unknown; readonly id?: unknown };
  if (typeof userId === 'string') return ({ user }) => user.id === userId;
  if (typeof id !== 'string') return () => false;
  const key = userScope(target as never);
  return ({ key: userKey }) => userKey === key;
}
