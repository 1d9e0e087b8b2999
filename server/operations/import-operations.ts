import { fieldError } from '../../shared/errors.js';
import { conversationOf } from '../chat-format/imported.js';
import { asPath } from '../chat-format/path.js';
import { LimitError } from '../limit-error.js';
import type { Handlers } from './call.js';
import type { OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';

/** Begins sessions with imported messages. */
export const importOperations = (
  { sessions, limits: { importedMessages } }: OperationEnvironment,
  { access, files }: OperationParts,
): Handlers<'import'> => ({
  async import({ messages: given, format = 'messages', title, metadata }, { caller, reach: { ref } }) {
    const { person, trusted = false } = caller;
    const { user, scope, key: userKey } = person;
    if (given.length > importedMessages)
      throw fieldError(
        'messages',
        `must have at most ${importedMessages} messages (limits.importedMessages), not ${given.length}`,
      );
    if (!trusted && !(await access.mayImport(ref.app, person))) {
      const message = 'Clients may not import conversations here; clientMessages.import allows it';
      throw new LimitError('clientMessages.import', { code: 'ACCESS_DENIED', message });
    }
    // In a session with a single user the sender's id would say nothing.
    const by = trusted ? null : { senderId: scope === userKey ? undefined : user.id };
    const brought = asPath(conversationOf(format, given), by);
    const messages = await sessions.sender.checked(ref.app, brought, user);
    await files.checkNamed(messages, person);
    const { id, ...place } = await sessions.beginnings.import(ref, {
      messages,
      userId: user.id,
      ...(title !== undefined && { title }),
      ...(metadata && { metadata }),
    });
    return { sessionId: id, ...place };
  },
});
