import { type ErrorDefaults, GatewayError, setErrorDefaults } from './gateway-error.js';

export {
  type ErrorBody,
  GatewayError,
  type GatewayErrorInit,
  GuardError,
  type GuardType,
  isGatewayError,
  isGuardError,
} from './gateway-error.js';

/** Every code the gateway or its client uses, with its HTTP status and default message. */
export const ERROR_TABLE = {
  INVALID_REQUEST: { status: 400, message: 'The request is malformed' },
  INVALID_PARAMS: { status: 400, message: 'The parameters do not match the schema' },
  PROTOCOL_VERSION_UNSUPPORTED: {
    status: 400,
    message: 'There is no common protocol version',
  },
  UNAUTHENTICATED: { status: 401, message: 'Authentication is required' },
  BUDGET_EXHAUSTED: { status: 402, message: 'A budget is used up' },
  GUARD_DENIED: { status: 403, message: 'The call was denied', guardType: 'custom' },
  DENIED: { status: 403, message: 'A person denied it' },
  ACCESS_DENIED: { status: 403, message: 'You have no access to this' },
  ORIGIN_DENIED: { status: 403, message: 'This origin or host is not allowed' },
  ROUTE_NOT_FOUND: { status: 404, message: 'There is no such route' },
  METHOD_NOT_FOUND: { status: 404, message: 'There is no such method' },
  APP_NOT_FOUND: { status: 404, message: 'There is no such app' },
  SESSION_NOT_FOUND: { status: 404, message: 'There is no such session' },
  RUN_NOT_FOUND: { status: 404, message: 'There is no such run' },
  CONNECTION_NOT_FOUND: { status: 404, message: 'There is no such connection' },
  MESSAGE_NOT_FOUND: { status: 404, message: 'There is no such message' },
  FILE_NOT_FOUND: { status: 404, message: 'There is no such file' },
  CALL_NOT_FOUND: {
    status: 404,
    message: 'There is no such confirmation, question or client tool call',
  },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This route does not take this HTTP method' },
  OTHER_USER: { status: 409, message: 'This is to be sent by another user alone' },
  SESSION_BUSY: { status: 409, message: 'The session is running another message' },
  SESSION_CLOSED: { status: 409, message: 'The session is being closed', retryable: true },
  MESSAGE_EXISTS: { status: 409, message: 'The session has a message with this id already' },
  CONTROL_TAKEN: { status: 409, message: 'Somebody else has control' },
  TAKEN_OVER: { status: 409, message: 'A person has control, so the app does not answer now' },
  HISTORY_MOVED: { status: 409, message: 'The conversation does not show this message any more' },
  SESSION_EXISTS: { status: 409, message: 'There is a session under this key already' },
  RUN_HELD: { status: 409, message: 'The run waits for another version of its app', retryable: true },
  ALREADY_ANSWERED: { status: 409, message: 'This call was already answered' },
  CURSOR_GONE: { status: 410, message: 'The events at this cursor are not kept any more' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The payload is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be application/json' },
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'The file has no such bytes' },
  MODERATED: { status: 422, message: 'This is not allowed to be said here' },
  IDEMPOTENCY_CONFLICT: { status: 422, message: 'This idempotency key was used with another body' },
  RATE_LIMITED: {
    status: 429,
    message: 'You send too many requests',
    retryable: true,
  },
  QUEUE_FULL: { status: 429, message: 'The session queue is full', retryable: true },
  TOO_MANY_CONNECTIONS: {
    status: 429,
    message: 'You have too many open connections',
    retryable: true,
  },
  STEP_MISMATCH: { status: 500, message: 'A step is not the one that the run began with' },
  TOOL_FAILED: { status: 500, message: 'A tool of the app failed' },
  INTERNAL: { status: 500, message: 'Internal error' },
  ADDRESS_IN_USE: { status: 500, message: 'The address is in use' },
  STORE_FAILED: { status: 500, message: 'The store cannot be opened' },
  UPSTREAM_FAILED: { status: 502, message: "The app's upstream failed", retryable: true },
  APP_REPLY_INVALID: { status: 502, message: 'The app sent what is not of its protocol' },
  AUTH_UNAVAILABLE: { status: 503, message: 'The credentials cannot be checked now', retryable: true },
  SHUTTING_DOWN: { status: 503, message: 'The gateway is shutting down', retryable: true },
  OVERLOADED: { status: 503, message: 'The gateway cannot take this now', retryable: true },
  TIMEOUT: { status: 504, message: 'The call took too long' },
  QUOTA_EXCEEDED: { status: 507, message: 'There is no room left for this' },
  NETWORK: { status: 0, message: 'The gateway cannot be reached', retryable: true },
  ABORTED: { status: 0, message: 'The call was aborted by its caller' },
} as const satisfies Record<string, ErrorDefaults>;

/** A code of the error table; hosts may use codes of their own. */
export type ErrorCode = keyof typeof ERROR_TABLE;

/** Gives errors the statuses and messages of the table. Everything but a client's bundle imports this module and so has them. */
export function installErrorTable(): void {
  const rows: Readonly<Record<string, ErrorDefaults>> = ERROR_TABLE;
  setErrorDefaults((code) => (Object.hasOwn(rows, code) ? rows[code]! : { status: 500, message: code }));
}

installErrorTable();

/** An error about one field, which the message and the details name. @param code @default 'INVALID_PARAMS' */
export function fieldError(path: string, message: string, code: ErrorCode = 'INVALID_PARAMS'): GatewayError {
  return new GatewayError({ code, message: `${path}: ${message}`, details: [{ path, message }] });
}
