import type { MaybePromise } from '../async/maybe-promise.js';
import type { AccessedOperation } from '../config/access.js';
import type { Room } from '../limits/room.js';
import type { Access } from './access.js';
import type { Caller } from './caller.js';
import type { FileOperations } from './file-operations.js';
import type { Reach } from './reach.js';

/** As `Access.session`, for callers that did not take too much. @throws GatewayError */
export type Authorize = (
  sessionId: string,
  operation: AccessedOperation,
  caller: Pick<Caller, 'identity'>,
) => MaybePromise<Reach>;

/** What operations have in common that put something into a session. */
export interface OperationParts {
  readonly access: Access;
  readonly authorize: Authorize;
  readonly files: FileOperations;
  readonly room: Room;
}
