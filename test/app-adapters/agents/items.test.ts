import { expect } from 'chai';
import * as fc from 'fast-check';
import { fromAgentItems, toAgentItems } from '../../../server/app-adapters/agents/index.js';
import type { ContentBlock, Message } from '../../../shared/messages.js';
import { conversations, interleavedCalls } from '../conversations.js';

/** What items can hold: of media by URL not the type, and of images no name. */
function kept({ role, content }: Message) {
  const blocks = content.map((block): ContentBlock => {
    if (block.type === 'image') {
      const { name: _, ...rest } = block;
      return rest.url === undefined ? rest : { ...rest, mediaType: 'image/*' };
    }
    return block.type === 'file' && block.url !== undefined
      ? { ...block, mediaType: 'application/octet-stream' }
      : block;
  });
  return { role, content: blocks };
}

describe('items of the Agents SDK', () => {
  it('every conversation comes back as it went, but for what items have no place for', () => {
    fc.assert(
      fc.property(conversations(), (messages) => {
        expect(fromAgentItems(toAgentItems(messages))).to.deep.equal(messages.map(kept));
      }),
    );
  });

  it('every call is followed by its result, whatever came between', () => {
    const items = toAgentItems(interleavedCalls());
    expect(items.map((item: any) => [item.type, item.callId])).to.deep.equal([
      ['function_call', 'a'],
      ['function_call', 'b'],
      ['function_call_result', 'a'],
      ['function_call_result', 'b'],
      ['function_call', 'c'],
      ['function_call_result', 'c'],
    ]);
  });

  it('reads what the SDK itself writes', () => {
    expect(
      fromAgentItems([
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', content: [{ type: 'input_text', text: 'A summary' }] },
        { role: 'assistant', status: 'completed', content: [{ type: 'refusal', refusal: 'No' }] },
        { type: 'function_call', callId: 'c', name: 'look', arguments: 'not json' },
        {
          type: 'function_call_result',
          callId: 'c',
          name: 'look',
          status: 'completed',
          output: { type: 'text', text: '42' },
        },
        { type: 'compaction', encrypted_content: 'x' },
        {
          role: 'user',
          content: [
            { type: 'audio', audio: 'AAAA', format: 'mp3' },
            { type: 'input_image', image: { id: 'file_1' } },
          ],
        },
      ]),
    ).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'A summary' },
          { type: 'text', text: 'No' },
          { type: 'tool_use', callId: 'c', name: 'look', input: 'not json' },
          { type: 'tool_result', callId: 'c', name: 'look', output: '42', isError: false },
        ],
      },
      { role: 'user', content: [{ type: 'audio', mediaType: 'audio/mpeg', data: 'AAAA' }] },
    ]);
  });
});
