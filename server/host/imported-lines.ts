import { fieldError } from '../../shared/errors.js';
import { LineDecoder } from '../../shared/ndjson.js';
import type { ImportSource } from './data-options.js';

const encoder = new TextEncoder();

/**
 * The messages of an export, from lines of JSON as text or bytes, split anywhere, or from objects.
 *
 * @param most Most messages allowed.
 * @throws GatewayError `INVALID_PARAMS` naming the line that is not JSON, or for too many messages
 */
export async function importedLines(source: ImportSource, most: number): Promise<unknown[]> {
  const lines = new LineDecoder(Number.POSITIVE_INFINITY);
  const messages: unknown[] = [];
  const add = (message: unknown): void => {
    if (messages.length >= most)
      throw fieldError('messages', `must have at most ${most} messages (limits.importedMessages)`);
    messages.push(message);
  };
  const feed = (bytes: Uint8Array): void => {
    for (const line of lines.feed(bytes)) add(parsed(line, messages.length));
  };
  for await (const part of typeof source === 'string' ? [source] : source) {
    if (typeof part === 'string') feed(encoder.encode(part));
    else if (part instanceof Uint8Array) feed(part);
    else add(part);
  }
  // The last line may lack its line break.
  feed(encoder.encode('\n'));
  return messages;
}

function parsed(line: string, index: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw fieldError(`messages.${index}`, 'is not a line of JSON');
  }
}
