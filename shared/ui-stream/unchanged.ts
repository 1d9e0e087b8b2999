import type { UiChunk } from './chunks.js';

/** A continuation that has nothing to tell, and yet has something in it: a page asks on and on behind one that has not. */
export function unchanged(messageId: string, messageMetadata: object): UiChunk[] {
  return [
    { type: 'start', messageId },
    { type: 'start-step' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'tool-calls', messageMetadata },
  ];
}
