import { fieldError } from '../../shared/errors.js';
import { parseUrl } from '../../shared/parse-url.js';
import type { OnDisconnect, Turn } from '../apps/application.js';
import type { Versioned } from '../apps/versions.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/** Bounds of the replies of an agent that is served elsewhere. */
export interface AgentBounds {
  /** Time without a byte after which a reply counts as dead, in milliseconds. @default 120 000 */
  readonly silenceMs: number;
  /** Largest event of a reply, in bytes. @default 1 MiB */
  readonly eventBytes: number;
  /** Largest reply to one request, in bytes. @default 64 MiB */
  readonly replyBytes: number;
}

/** Headers of the requests to an agent. */
export type AgentHeaders = Readonly<Record<string, string>>;

/** Options of an app that answers with an agent which somebody serves by a protocol. */
export interface ServedAgentOptions extends Versioned, Partial<AgentBounds> {
  /** Address of the agent, with `http:` or `https:`. No request goes to another origin, and none follows a redirect. */
  readonly url: string;
  /** Headers of each request, such as `authorization`. A function makes those of one turn. */
  readonly headers?: AgentHeaders | ((turn: Turn) => MaybePromise<AgentHeaders>);
  readonly description?: string;
  /** @default 'continue' */
  readonly onDisconnect?: OnDisconnect;
}

const MIB = 1024 * 1024;
const DEFAULTS: AgentBounds = { silenceMs: 120_000, eventBytes: MIB, replyBytes: 64 * MIB };
const MOST: AgentBounds = { silenceMs: 3_600_000, eventBytes: 8 * MIB, replyBytes: Number.MAX_SAFE_INTEGER };

/** The bounds of an agent's replies. @throws GatewayError `INVALID_PARAMS` that names the option */
export function replyBoundsOf(options: Partial<AgentBounds>): AgentBounds {
  const bounds = { ...DEFAULTS };
  for (const field of Object.keys(DEFAULTS) as (keyof AgentBounds)[]) {
    const value = options[field] ?? DEFAULTS[field];
    if (!Number.isInteger(value) || value < 1 || value > MOST[field])
      throw fieldError(field, `must be a whole number from 1 to ${MOST[field]}`);
    bounds[field] = value;
  }
  return bounds;
}

/** The address of an agent. @throws GatewayError `INVALID_PARAMS` that names the option */
export function addressOf(value: unknown, field: string): URL {
  const url = typeof value === 'string' ? parseUrl(value) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw fieldError(field, 'must be an address with http: or https:');
  return url;
}
