import { cut } from '../../shared/cut.js';
import { fieldError, GatewayError } from '../../shared/errors.js';
import type { AudioBlock, ContentBlock, FileBlock, ImageBlock, Message } from '../../shared/messages.js';
import { namesFile } from '../../shared/names-file.js';

type NamedBlock = ImageBlock | FileBlock | AudioBlock;

/** A file that a message names, and the field that names it. */
export interface NamedFile {
  readonly fileId: string;
  /** Path of the field, as clients write it. */
  readonly path: string;
}

/**
 * The files that messages of one send name.
 *
 * @throws GatewayError `INVALID_PARAMS` for a block that has its bytes in two places
 */
export function namedFiles(messages: readonly Pick<Message, 'content'>[]): NamedFile[] {
  const named: NamedFile[] = [];
  for (const [at, { content }] of messages.entries()) {
    for (const [index, block] of content.entries()) {
      if (!namesFile(block)) continue;
      const base = messages.length === 1 ? 'message' : `messages.${at}`;
      const path = `${base}.content.${index}.fileId`;
      if (block.url !== undefined || block.data !== undefined) throw ambiguous(path);
      named.push({ fileId: block.fileId, path });
    }
  }
  return named;
}

/** The messages with the true media types and names of their files, because a caller's may be wrong. */
export function withMediaTypes(
  messages: readonly Message[],
  records: ReadonlyMap<string, { readonly mediaType: string; readonly name?: string }>,
): Message[] {
  return messages.map((message) => ({
    ...message,
    content: message.content.map((block): ContentBlock => {
      const record = namesFile(block) && records.get(block.fileId);
      if (!record) return block;
      const { mediaType, name } = record;
      return {
        ...block,
        mediaType,
        ...(name !== undefined && block.name === undefined && { name }),
      } as NamedBlock;
    }),
  }));
}

/** The error for a file that does not exist, or that the caller may not see. @param path The field that names it */
export function fileNotFound(fileId: string, path?: string): GatewayError {
  const message = `There is no file ${JSON.stringify(cut(fileId, 128))}`;
  if (path === undefined) return new GatewayError({ code: 'FILE_NOT_FOUND', message });
  return fieldError(path, message, 'FILE_NOT_FOUND');
}

function ambiguous(path: string): GatewayError {
  return fieldError(path, 'give either fileId, url or data');
}
