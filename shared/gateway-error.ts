import type { ErrorCode } from './errors.js';
import { pick } from './pick.js';

/** Which check denied a call. */
export type GuardType = 'role' | 'custom';

/** The error object of the wire, the same on every transport. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  /** The HTTP status, also on transports without HTTP. */
  readonly status?: number;
  readonly details?: unknown;
  readonly retryable?: boolean;
  /** Milliseconds after which a retry makes sense. */
  readonly retryAfterMs?: number;
  readonly guardType?: GuardType;
  /** Finds the log entry of an internal error. */
  readonly requestId?: string;
}

/** The fields of a new `GatewayError`. The error table fills in absent ones. */
export interface GatewayErrorInit extends Omit<ErrorBody, 'code' | 'message'> {
  readonly code: ErrorCode | (string & {});
  readonly message?: string;
  readonly cause?: unknown;
}

/** The fields of an error that its maker leaves out. */
export interface ErrorDefaults {
  readonly status: number;
  readonly message: string;
  /** Whether the same call may succeed later without a change. */
  readonly retryable?: boolean;
  readonly guardType?: GuardType;
}

// The client's own defaults: its few codes get their texts at the throwing site, and every other code comes with its fields over the wire.
let defaultsOf = (code: string): ErrorDefaults => ({
  status: 0,
  message: code,
  ...(code === 'NETWORK' && { retryable: true }),
});

/** Sets the table from which errors take absent fields. It is too big for a client's bundle. */
export function setErrorDefaults(lookUp: (code: string) => ErrorDefaults): void {
  defaultsOf = lookUp;
}

const BRAND = Symbol.for('agent-session-gateway.error');
const WIRE_FIELDS = ['details', 'retryable', 'retryAfterMs', 'guardType', 'requestId'] as const;

/** The one error of the gateway and its client. Match on `code`. A handler's `GatewayError` reaches the caller unchanged. */
export class GatewayError extends Error {
  declare readonly code: string;
  /** HTTP status; 0 for an error that arose in the client. */
  declare readonly status: number;
  declare readonly details?: unknown;
  declare readonly retryable?: boolean;
  declare readonly retryAfterMs?: number;
  declare readonly guardType?: GuardType;
  declare readonly requestId?: string;

  constructor(init: GatewayErrorInit) {
    const defaults = defaultsOf(init.code);
    super(init.message ?? defaults.message, init);
    // Code that handles aborts expects this name.
    this.name = init.code === 'ABORTED' ? 'AbortError' : 'GatewayError';
    const { code, status = defaults.status } = init;
    Object.assign(this, { code, status }, pick({ ...defaults, ...init }, ...WIRE_FIELDS));
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** The wire form, without stack or cause. */
  toJSON(): ErrorBody {
    return pick(this as ErrorBody, 'code', 'message', 'status', ...WIRE_FIELDS) as ErrorBody;
  }

  /** Rebuilds an error from its wire form. The status of a response takes precedence. */
  static fromJSON(body: ErrorBody, status?: number): GatewayError {
    const init = status ? { ...body, status } : body;
    return body.code === 'GUARD_DENIED' ? new GuardError(init) : new GatewayError(init);
  }
}

/** A role check or a guard denied a method call. */
export class GuardError extends GatewayError {
  constructor(init: Omit<GatewayErrorInit, 'code'> = {}) {
    super({ ...init, code: 'GUARD_DENIED' });
    this.name = 'GuardError';
  }
}

/** Whether a value is a `GatewayError`, also one of another copy of this package. Takes any value, hostile proxies included. */
export function isGatewayError(value: unknown): value is GatewayError {
  try {
    return typeof value === 'object' && value !== null && BRAND in value;
  } catch {
    return false;
  }
}

/** Whether a value is a denial by a role check or a guard. */
export function isGuardError(value: unknown): value is GuardError {
  return isGatewayError(value) && value.code === 'GUARD_DENIED';
}
