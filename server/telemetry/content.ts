import type { ContentBlock } from '../../shared/messages.js';

/** An answer in the form of the conventions' `gen_ai.output.messages`. Media are left out, because their bytes don't fit an attribute. */
export function outputMessages(
  content: readonly ContentBlock[],
  [reason]: readonly string[],
): readonly [Readonly<Record<string, unknown>>] {
  return [{ role: 'assistant', parts: content.flatMap(partOf), ...(reason && { finish_reason: reason }) }];
}

function partOf(block: ContentBlock): readonly object[] {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return [{ type: block.type, content: block.text }];
    case 'tool_use':
      return [{ type: 'tool_call', id: block.callId, name: block.name, arguments: block.input }];
    default:
      return [];
  }
}
