import type { AuthRefusal } from '../auth/authenticate.js';
import type { Person } from '../auth/types.js';
import type { Logger } from '../config/config.js';
import { RateLimiter } from '../limits/token-bucket.js';
import type { Lifecycle } from './lifecycle.js';

/** Log lines of one kind per second, with bursts of twice as many. An attack must not fill the disk. */
const LINES_PER_SECOND = 5;

/** A refused page or host name. */
export interface OriginRefusal {
  readonly origin?: string | undefined;
  readonly host: string;
  readonly requestId?: string | undefined;
  /** Names the option that would allow it. */
  readonly message: string;
}

/** Reports refused callers to the log and the gateway's listeners, with the reason and the option that would admit them. Never logs a credential. */
export class Refusals {
  readonly #logger: Logger;
  readonly #lifecycle: Lifecycle;
  readonly #gateway: string;
  readonly #lines = new RateLimiter({ perSecond: LINES_PER_SECOND });
  readonly #unsaid = new Map<string, number>();
  #hinted = false;
  /** Called with each refused caller of which a line is logged. */
  told: (refusal: AuthRefusal) => void = () => {};

  constructor(logger: Logger, lifecycle: Lifecycle, gateway: string) {
    this.#logger = logger;
    this.#lifecycle = lifecycle;
    this.#gateway = gateway;
  }

  /** Reports a caller whose credentials were refused. */
  caller(refusal: AuthRefusal): void {
    const { code, reason, address, requestId } = refusal;
    if (code === 'RATE_LIMITED') {
      this.#lifecycle.emit('address:blocked', { address, reason });
      this.#warn('an address is refused unheard after too many failed attempts', {
        ...{ code, address, reason, requestId },
      });
      return;
    }
    this.#lifecycle.emit('caller:refused', { code, reason, address });
    if (this.#warn('a caller was refused', { code, reason, address, requestId })) this.told(refusal);
  }

  /** Reports a caller whose open streams were ended. */
  withdrawn({ user }: Person, error: unknown): void {
    const { code, message, cause } = error as { code?: string; message?: string; cause?: unknown };
    const reason = typeof cause === 'string' ? cause : String(message);
    this.#lifecycle.emit('caller:withdrawn', { user, reason });
    this.#warn('a caller was withdrawn, and what it had open ended', { code, reason, user: user.id });
  }

  /** Reports a page of another site, or a host name that is not the gateway's. */
  origin(refusal: OriginRefusal): void {
    this.#lifecycle.emit('origin:refused', refusal);
    this.#warn('an origin or host name was refused', { ...refusal });
  }

  /** Reports an address with too many requests under way. */
  crowded(address: string, limit: string): void {
    this.#lifecycle.emit('address:blocked', { address, reason: limit });
    this.#warn('an address has too much under way; if it is a proxy, set trustProxy', { address, limit });
  }

  /** Hints once at `trustProxy`, because many clients' requests come from one address. */
  proxied(): void {
    if (this.#hinted) return;
    this.#hinted = true;
    this.#logger.warn(
      { gateway: this.#gateway },
      'requests come through a proxy on this machine: set trustProxy (for one, 1), or all clients share its address and with it one limit on failed attempts',
    );
  }

  /** Logs a warning other than a refusal, at the same rate. */
  warn(message: string, details: Readonly<Record<string, unknown>>): void {
    this.#warn(message, details);
  }

  /** @returns whether a line was written */
  #warn(message: string, details: Readonly<Record<string, unknown>>): boolean {
    try {
      this.#lines.take(message);
    } catch {
      this.#unsaid.set(message, (this.#unsaid.get(message) ?? 0) + 1);
      return false;
    }
    const unsaid = this.#unsaid.get(message);
    this.#unsaid.delete(message);
    this.#logger.warn({ ...details, gateway: this.#gateway, ...(unsaid && { unsaid }) }, message);
    return true;
  }
}
