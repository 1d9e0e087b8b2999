import { ERROR_TABLE, type ErrorCode } from '../../shared/errors.js';
import type { OperationName } from '../../shared/operations.js';

/** A described request: an operation, or one of the other routes. */
export type Described = OperationName | 'events' | 'upload' | 'file' | 'live' | 'ready';

const ORIGIN = ['ORIGIN_DENIED', 'INVALID_REQUEST', 'TOO_MANY_CONNECTIONS'] as const;
const CALLER = [
  ...ORIGIN,
  'UNAUTHENTICATED',
  'ACCESS_DENIED',
  'RATE_LIMITED',
  'AUTH_UNAVAILABLE',
  'INTERNAL',
] as const;
const READING = [...CALLER, 'INVALID_PARAMS', 'OVERLOADED'] as const;
const POSTING = [...READING, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;
const SESSION = ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'] as const;

const RUN = [
  ...POSTING,
  ...SESSION,
  'MESSAGE_NOT_FOUND',
  'HISTORY_MOVED',
  'SESSION_CLOSED',
  'IDEMPOTENCY_CONFLICT',
  'CURSOR_GONE',
  'QUOTA_EXCEEDED',
  'SHUTTING_DOWN',
] as const;

/** The error codes of each route. A host's own code may add others. */
const CODES: Readonly<Record<Described, readonly ErrorCode[]>> = {
  send: [...RUN, 'TAKEN_OVER', 'FILE_NOT_FOUND', 'SESSION_BUSY', 'MESSAGE_EXISTS', 'QUEUE_FULL'],
  regenerate: [...RUN, 'TAKEN_OVER'],
  'take-over': [...POSTING, ...SESSION, 'CONTROL_TAKEN', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  presence: [...POSTING, ...SESSION, 'CONNECTION_NOT_FOUND', 'SHUTTING_DOWN'],
  react: [...POSTING, ...SESSION, 'MESSAGE_NOT_FOUND', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  'hand-back': [...POSTING, ...SESSION, 'CONTROL_TAKEN', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  delete: [...POSTING, ...SESSION],
  import: [
    ...POSTING,
    'APP_NOT_FOUND',
    'SESSION_NOT_FOUND',
    'ACCESS_DENIED',
    'FILE_NOT_FOUND',
    'SESSION_EXISTS',
    'SESSION_CLOSED',
    'QUOTA_EXCEEDED',
    'SHUTTING_DOWN',
  ],
  export: [...READING, ...SESSION, 'TOO_MANY_CONNECTIONS'],
  move: [...POSTING, ...SESSION, 'MESSAGE_NOT_FOUND', 'SESSION_CLOSED', 'SHUTTING_DOWN'],
  schedule: [...POSTING, ...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  unschedule: [...POSTING, ...SESSION, 'SESSION_CLOSED', 'SHUTTING_DOWN'],
  schedules: [...READING, ...SESSION],
  read: [...POSTING, ...SESSION],
  inbox: [...READING],
  notices: [...READING, ...SESSION],
  push: [...POSTING, 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  share: [...POSTING, ...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  unshare: [...POSTING, ...SESSION, 'SESSION_CLOSED', 'SHUTTING_DOWN'],
  grants: [...READING, ...SESSION],
  fork: [
    ...POSTING,
    ...SESSION,
    'MESSAGE_NOT_FOUND',
    'SESSION_EXISTS',
    'SESSION_CLOSED',
    'QUOTA_EXCEEDED',
    'SHUTTING_DOWN',
  ],
  invoke: [...POSTING, ...SESSION, 'METHOD_NOT_FOUND', 'GUARD_DENIED', 'SHUTTING_DOWN', 'TIMEOUT'],
  subscribe: [...POSTING, ...SESSION, 'CONNECTION_NOT_FOUND', 'QUEUE_FULL', 'SHUTTING_DOWN'],
  abort: [...POSTING, ...SESSION],
  steer: [...POSTING, ...SESSION, 'RUN_NOT_FOUND', 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  close: [...POSTING, ...SESSION],
  'tool-response': [...POSTING, ...SESSION, 'GUARD_DENIED', 'CALL_NOT_FOUND', 'ALREADY_ANSWERED'],
  channel: [...POSTING, ...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  update: [...POSTING, ...SESSION, 'SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  ticket: POSTING,
  history: [...READING, ...SESSION, 'CURSOR_GONE'],
  sessions: READING,
  apps: READING,
  status: [...READING, ...SESSION],
  run: [...READING, ...SESSION, 'RUN_NOT_FOUND'],
  methods: READING,
  openapi: READING,
  asyncapi: READING,
  events: [...READING, ...SESSION],
  upload: [...POSTING, 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
  file: [...READING, ...SESSION, 'FILE_NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
  live: ORIGIN,
  ready: [...ORIGIN, 'SHUTTING_DOWN', 'OVERLOADED'],
};

/** The codes of a route by HTTP status. */
export function codesByStatus(described: Described): ReadonlyMap<number, readonly ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of CODES[described]) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}
