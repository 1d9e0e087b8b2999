import { fieldError } from '../../shared/errors.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import { conversationOf } from '../chat-format/imported.js';
import { asPath } from '../chat-format/path.js';
import { LimitError } from '../limit-error.js';
import type { Caller } from './caller.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';

/** Begins sessions with imported messages. */
export class ImportOperations {
  readonly #env: OperationEnvironment;
  readonly #parts: OperationParts;

  constructor(env: OperationEnvironment, parts: OperationParts) {
    this.#env = env;
    this.#parts = parts;
  }

  async import(params: ParamsOf<'import'>, caller: Caller): Promise<ResultOf<'import'>> {
    const { sessionId, messages: given, format = 'messages', title, metadata } = params;
    const { quotas, sessions, importedMessages } = this.#env;
    const { access, authorize, files, room } = this.#parts;
    const { identity, trusted = false } = caller;
    const { user, scope, userKey } = identity;
    assertOpen(this.#env);
    quotas.sends.take(identity);
    if (given.length > importedMessages)
      throw fieldError(
        'messages',
        `must have at most ${importedMessages} messages (limits.importedMessages), not ${given.length}`,
      );
    const { ref } = await authorize(sessionId, 'import', caller);
    if (!trusted && !(await access.mayImport(ref.app, identity))) {
      const message = 'Clients may not import conversations here; clientMessages.import allows it';
      throw new LimitError('clientMessages.import', { code: 'ACCESS_DENIED', message });
    }
    // In a session with a single user the sender's id would say nothing.
    const by = trusted ? null : { senderId: scope === userKey ? undefined : user.id };
    const messages = asPath(conversationOf(format, given), by);
    await files.checkNamed(messages, identity);
    await room.check(ref);
    const { id, ...place } = await sessions.beginnings.import(ref, {
      messages,
      userId: user.id,
      ...(title !== undefined && { title }),
      ...(metadata && { metadata }),
    });
    return { sessionId: id, ...place };
  }
}
