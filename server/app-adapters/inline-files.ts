import { isGatewayError } from '../../shared/errors.js';
import type { ContentBlock, Message } from '../../shared/messages.js';
import { namesFile } from '../../shared/names-file.js';
import type { Turn } from '../apps/application.js';

type InlinedBlock = Extract<ContentBlock, { type: 'image' | 'file' | 'audio' }>;

/**
 * Inlines the uploaded files of messages for a model. In earlier messages, a file that is gone or too large becomes a remark, because an
 * error would end every later run of the session too.
 *
 * @param messages The messages before `turn.message`, that message, and messages that steer it.
 * @throws GatewayError `FILE_NOT_FOUND`, `PAYLOAD_TOO_LARGE` for a file of the message to answer
 */
export async function withFiles<M extends Pick<Message, 'role' | 'content'>>(
  turn: Turn,
  messages: readonly M[],
): Promise<M[]> {
  const inline = new Map<string, Promise<string>>();
  const bytesOf = (fileId: string): Promise<string> => {
    const known = inline.get(fileId) ?? base64Of(turn, fileId);
    inline.set(fileId, known);
    return known;
  };
  const inlined = async (block: ContentBlock, message: M): Promise<ContentBlock> => {
    if (!namesFile(block)) return block;
    const { fileId, ...media } = block;
    try {
      return { ...media, data: await bytesOf(fileId) } as InlinedBlock;
    } catch (error) {
      if (!isGatewayError(error) || (message as unknown) === turn.message) throw error;
      return { type: 'text', text: `[${block.name ?? block.mediaType}: not available]` };
    }
  };
  return Promise.all(
    messages.map(async (message) =>
      message.content.some(namesFile)
        ? { ...message, content: await Promise.all(message.content.map((block) => inlined(block, message))) }
        : message,
    ),
  );
}

async function base64Of(turn: Turn, fileId: string): Promise<string> {
  const bytes = await (await turn.file(fileId)).bytes();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
