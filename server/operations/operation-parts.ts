import type { MaybePromise } from '../async/maybe-promise.js';
import type { AccessedOperation } from '../config/access.js';
import type { SessionRoom } from '../limits/session-room.js';
import type { Access } from './access.js';
import type { Caller } from './caller.js';
import type { FileOperations } from './file-operations.js';
import type { Reach } from './reach.js';

/** Authorizes a caller for a session, like `Access.session`, and notes a shared scope for its quotas. @throws GatewayError */
export type Authorize = (
  sessionId: string,
  operation: AccessedOperation,
  caller: Pick<Caller, 'person'>,
  ownGrant?: string,
) => MaybePromise<Reach>;

/** The parts that operations share. */
export interface OperationParts {
  readonly access: Access;
  readonly authorize: Authorize;
  readonly files: FileOperations;
  readonly room: SessionRoom;
}
