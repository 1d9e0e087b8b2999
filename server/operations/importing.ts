import { fieldError, GatewayError } from '../../shared/errors.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import { conversationOf } from '../chat-format/imported.js';
import { asPath } from '../chat-format/path.js';
import { LimitError } from '../limit-error.js';
import type { Room } from '../limits/room.js';
import type { Access } from './access.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';
import type { FileOperations } from './file-operations.js';
import type { Authorize } from './reading.js';

/** What imports are checked with. */
interface Parts {
  readonly access: Access;
  readonly authorize: Authorize;
  readonly files: FileOperations;
  readonly room: Room;
}

/** Begins sessions with messages of elsewhere. */
export class Importing {
  readonly #env: OperationEnvironment;
  readonly #parts: Parts;

  constructor(env: OperationEnvironment, parts: Parts) {
    this.#env = env;
    this.#parts = parts;
  }

  async import(params: ParamsOf<'import'>, caller: Caller): Promise<ResultOf<'import'>> {
    const { sessionId, messages: given, format = 'messages', title, metadata } = params;
    const { state, quotas, sessions, importedMessages } = this.#env;
    const { access, authorize, files, room } = this.#parts;
    const { identity, trusted = false } = caller;
    const { user, scope, userKey } = identity;
    if (state.draining) throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
    quotas.sends.take(identity);
    if (given.length > importedMessages)
      throw fieldError(
        'messages',
        `at most ${importedMessages} (limits.importedMessages), not ${given.length}`,
      );
    const ref = await authorize(sessionId, 'import', caller);
    if (!trusted && !(await access.mayImport(ref.app, identity))) {
      const message = 'Clients may not import conversations here; clientMessages.import allows it';
      throw new LimitError('clientMessages.import', { code: 'ACCESS_DENIED', message });
    }
    // In a session that is one person's alone it says nothing who wrote a message.
    const by = trusted ? null : { senderId: scope === userKey ? undefined : user.id };
    const messages = asPath(conversationOf(format, given), by);
    await files.checkNamed(messages, identity);
    await room.check(ref);
    const { id, ...place } = await sessions.import(ref, {
      messages,
      userId: user.id,
      ...(title !== undefined && { title }),
      ...(metadata && { metadata }),
    });
    return { sessionId: id, ...place };
  }
}
