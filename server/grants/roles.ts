import { GatewayError } from '../../shared/errors.js';
import { type GrantRole, isAtLeast } from '../../shared/grants.js';
import type { AccessedOperation } from '../config/access.js';

/** The least role that each operation needs by a grant. `owner` means that no grant allows it. */
export const LEAST_ROLES: Readonly<Record<AccessedOperation, GrantRole | 'owner'>> = {
  events: 'viewer',
  history: 'viewer',
  status: 'viewer',
  run: 'viewer',
  export: 'viewer',
  schedules: 'viewer',
  // These operations name no session, or only the caller's connection. Guests may use them.
  sessions: 'viewer',
  subscribe: 'viewer',
  read: 'viewer',
  presence: 'viewer',
  // Guests and those who are granted have their own alone.
  notices: 'viewer',
  inbox: 'viewer',
  push: 'viewer',
  ticket: 'viewer',
  apps: 'viewer',
  channel: 'commenter',
  react: 'commenter',
  send: 'member',
  regenerate: 'member',
  move: 'member',
  abort: 'member',
  steer: 'member',
  'tool-response': 'member',
  'tool-call': 'member',
  invoke: 'member',
  update: 'operator',
  'take-over': 'operator',
  'hand-back': 'operator',
  schedule: 'operator',
  unschedule: 'operator',
  share: 'operator',
  unshare: 'operator',
  grants: 'operator',
  fork: 'owner',
  notify: 'owner',
  import: 'owner',
  close: 'owner',
  delete: 'owner',
  methods: 'owner',
  openapi: 'owner',
};

/** @throws GatewayError `ACCESS_DENIED` if a grant of this role does not allow the operation */
export function assertAllowed(role: GrantRole, operation: AccessedOperation): void {
  const least = LEAST_ROLES[operation];
  if (least !== 'owner' && isAtLeast(role, least)) return;
  const problem =
    least === 'owner'
      ? `Only the owner of a session may call ${operation}`
      : `${operation} needs a grant as ${least}; yours is as ${role}`;
  throw new GatewayError({ code: 'ACCESS_DENIED', message: problem });
}
