interface ErrorRow {
  readonly status: number;
  readonly message: string;
  /** Whether the same call may succeed later without a change. */
  readonly retryable?: true;
}

/** Every code the gateway or its client uses, with its HTTP status and default message. */
export const ERROR_TABLE = {
  INVALID_REQUEST: { status: 400, message: 'The request is malformed' },
  INVALID_PARAMS: { status: 400, message: 'The parameters do not match the schema' },
  PROTOCOL_VERSION_UNSUPPORTED: { status: 400, message: 'No common protocol version' },
  UNAUTHENTICATED: { status: 401, message: 'Authentication is required' },
  GUARD_DENIED: { status: 403, message: 'The call was denied' },
  ACCESS_DENIED: { status: 403, message: 'Access denied' },
  ORIGIN_DENIED: { status: 403, message: 'This origin or host is not allowed' },
  ROUTE_NOT_FOUND: { status: 404, message: 'No such route' },
  METHOD_NOT_FOUND: { status: 404, message: 'No such method' },
  APP_NOT_FOUND: { status: 404, message: 'No such app' },
  SESSION_NOT_FOUND: { status: 404, message: 'No such session' },
  CONNECTION_NOT_FOUND: { status: 404, message: 'No such connection' },
  CALL_NOT_FOUND: { status: 404, message: 'No such confirmation, question or client tool call' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'HTTP method not allowed on this route' },
  SESSION_BUSY: { status: 409, message: 'The session is running another message' },
  SESSION_CLOSED: { status: 409, message: 'The session is being closed', retryable: true },
  ALREADY_ANSWERED: { status: 409, message: 'This call was already answered' },
  CURSOR_GONE: { status: 410, message: 'The cursor is outside what is retained' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The payload is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be application/json' },
  IDEMPOTENCY_CONFLICT: { status: 422, message: 'This idempotency key was used with another body' },
  RATE_LIMITED: { status: 429, message: 'Too many requests', retryable: true },
  QUEUE_FULL: { status: 429, message: 'The session queue is full', retryable: true },
  TOO_MANY_CONNECTIONS: { status: 429, message: 'Too many open connections', retryable: true },
  INTERNAL: { status: 500, message: 'Internal error' },
  ADDRESS_IN_USE: { status: 500, message: 'The address is in use' },
  STORE_FAILED: { status: 500, message: 'The store cannot be opened' },
  SHUTTING_DOWN: { status: 503, message: 'The gateway is shutting down', retryable: true },
  OVERLOADED: { status: 503, message: 'The gateway cannot take this now', retryable: true },
  TIMEOUT: { status: 504, message: 'The call took too long' },
  NETWORK: { status: 0, message: 'The gateway cannot be reached', retryable: true },
  ABORTED: { status: 0, message: 'The call was aborted by its caller' },
} as const satisfies Record<string, ErrorRow>;

/** A code of the error table; hosts may use codes of their own. */
export type ErrorCode = keyof typeof ERROR_TABLE;

/** Which check denied a call. */
export type GuardType = 'role' | 'custom';

/** The error object of the wire, the same on every transport. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
  readonly retryable?: boolean;
  /** Milliseconds after which a retry makes sense. */
  readonly retryAfterMs?: number;
  readonly guardType?: GuardType;
  /** Finds the log entry of an internal error. */
  readonly requestId?: string;
}

/** What a `GatewayError` is made of. `status` and `message` default to the table's. */
export interface GatewayErrorInit extends Omit<ErrorBody, 'code' | 'message'> {
  readonly code: ErrorCode | (string & {});
  readonly message?: string;
  readonly status?: number;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('agent-session-gateway.error');
const WIRE_FIELDS = ['details', 'retryable', 'retryAfterMs', 'guardType', 'requestId'] as const;

/** The one error of the gateway and its client. Match on `code`; thrown by a handler, it reaches the caller as it is. */
export class GatewayError extends Error {
  readonly code: string;
  /** HTTP status; 0 for an error that arose in the client. */
  readonly status: number;
  readonly details?: unknown;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly guardType?: GuardType;
  readonly requestId?: string;

  constructor(init: GatewayErrorInit) {
    const row: ErrorRow | undefined = Object.hasOwn(ERROR_TABLE, init.code)
      ? ERROR_TABLE[init.code as ErrorCode]
      : undefined;
    super(
      init.message ?? row?.message ?? init.code,
      init.cause === undefined ? undefined : { cause: init.cause },
    );
    this.name = 'GatewayError';
    this.code = init.code;
    this.status = init.status ?? row?.status ?? 500;
    const fields: Record<string, unknown> = { retryable: row?.retryable, ...init };
    for (const field of WIRE_FIELDS) {
      if (fields[field] !== undefined) Object.assign(this, { [field]: fields[field] });
    }
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** The wire form, without stack or cause. */
  toJSON(): ErrorBody {
    const body: Record<string, unknown> = { code: this.code, message: this.message };
    for (const field of WIRE_FIELDS) if (this[field] !== undefined) body[field] = this[field];
    return body as unknown as ErrorBody;
  }

  /** Rebuilds an error from its wire form. `status` comes from the response where there is one. */
  static fromJSON(body: ErrorBody, status?: number): GatewayError {
    const init = status === undefined ? body : { ...body, status };
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

/** Whether a value is a `GatewayError`, also one of another copy of this package. */
export function isGatewayError(value: unknown): value is GatewayError {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Whether a value is a denial by a role check or a guard. */
export function isGuardError(value: unknown): value is GuardError {
  return isGatewayError(value) && value.code === 'GUARD_DENIED';
}
