import type { MaybePromise } from '../async/maybe-promise.js';
import type { AccessedOperation } from '../config/access.js';
import type { Room } from '../limits/room.js';
import type { SessionRef } from '../stores/store.js';
import type { Access } from './access.js';
import type { Caller } from './caller.js';
import type { FileOperations } from './file-operations.js';

/** The place a key names for a caller. @throws GatewayError `INVALID_REQUEST`, `APP_NOT_FOUND`, `SESSION_NOT_FOUND` */
export type Authorize = (
  sessionId: string,
  operation: AccessedOperation,
  caller: Pick<Caller, 'identity'>,
) => MaybePromise<SessionRef>;

/** What operations have in common that put something into a session. */
export interface OperationParts {
  readonly access: Access;
  readonly authorize: Authorize;
  readonly files: FileOperations;
  readonly room: Room;
}
