import { fieldError } from '../../shared/errors.js';
import type { ContentBlock, Message } from '../../shared/messages.js';
import type { ImportedMessage } from '../../shared/operation-types.js';
import { newMessageId } from '../ids.js';

/** A client that imports. */
interface Importer {
  /** Id of the client's user, if the session may be shared between people. */
  readonly senderId: string | undefined;
}

/**
 * Imported messages as one path. Fields that only a gateway can know are accepted from its host only: a client may say whether an answer
 * was complete, but not which run or user wrote it.
 *
 * @throws GatewayError `INVALID_PARAMS` naming the field
 */
export function asPath(inputs: readonly ImportedMessage[], client: Importer | null): Message[] {
  const now = Date.now();
  const ids = new Set<string>();
  let tip: string | null = null;
  return inputs.map((input, at) => {
    const {
      id = newMessageId(),
      role = 'user',
      content,
      createdAt = now,
      parentId = tip,
      versions: _,
      ...rest
    } = input;
    if (ids.has(id)) throw fieldError(`messages.${at}.id`, 'another message has this id');
    if (parentId !== tip)
      throw fieldError(
        `messages.${at}.parentId`,
        'must be the id of the message before it, null for the first',
      );
    ids.add(id);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
    const message = { id, parentId, role, content: blocks as readonly ContentBlock[], createdAt };
    tip = id;
    return { ...message, ...(client ? sayable(role, rest, client) : rest) };
  });
}

type PathMessage = Omit<ImportedMessage, 'id' | 'parentId' | 'versions' | 'role' | 'content' | 'createdAt'>;

/** The fields of a message that a client may set. */
function sayable(
  role: Message['role'],
  { metadata, stopReason, error, endedAt }: PathMessage,
  { senderId }: Importer,
): Partial<Message> {
  return {
    ...(role === 'user' && senderId !== undefined && { senderId }),
    ...(stopReason !== undefined && { stopReason }),
    ...(error && { error }),
    ...(endedAt !== undefined && { endedAt }),
    ...(metadata && { metadata }),
  };
}
