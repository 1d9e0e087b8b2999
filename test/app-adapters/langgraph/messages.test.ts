import { AIMessage, coerceMessageLikeToMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { fromLangGraphMessages, toLangGraphMessages } from '../../../server/app-adapters/langgraph/index.js';
import type { ContentBlock, Message } from '../../../shared/messages.js';
import { conversations, interleavedCalls, message } from '../conversations.js';

/** What is left of a message on the way: its time and metadata have no place in LangChain's. */
const kept = ({ id, role, content }: Message) => ({ id, role, content });

describe('LangChain messages', () => {
  it('every conversation comes back as it went, as plain objects and as LangChain’s classes', () => {
    fc.assert(
      fc.property(conversations(), (messages) => {
        const converted = toLangGraphMessages(messages);
        expect(fromLangGraphMessages(converted)).to.deep.equal(messages.map(kept));
        const classes = converted.map((one) => coerceMessageLikeToMessage(one as any));
        expect(fromLangGraphMessages(classes)).to.deep.equal(messages.map(kept));
      }),
    );
  });

  it('every call of a model is followed by its result, whatever came between', () => {
    const converted = toLangGraphMessages(interleavedCalls());
    expect(
      converted.map(({ role, tool_calls: calls, tool_call_id: id }) => [
        role,
        calls?.map((one) => one.id) ?? id,
      ]),
    ).to.deep.equal([
      ['assistant', ['a', 'b']],
      ['tool', 'a'],
      ['tool', 'b'],
      ['assistant', ['c']],
      ['tool', 'c'],
    ]);
  });

  it('a text is a string, and media go as blocks that integrations know', () => {
    const content: ContentBlock[] = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'data', id: 'd', name: 'x', value: 1 },
    ];
    expect(
      toLangGraphMessages([message('user', content), message('user', content.slice(0, 1))]).map(
        (one) => one.content,
      ),
    ).to.deep.equal([
      [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source_type: 'base64', data: 'AAAA', mime_type: 'image/png' },
      ],
      'What is this?',
    ]);
  });

  it('a graph’s own messages become one answer with its tools’ results', () => {
    const call = { id: 'c1', name: 'look', args: { at: 1 }, type: 'tool_call' as const };
    const messages = [
      new HumanMessage({
        id: 'h',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
      }),
      new AIMessage({
        id: 'run-1',
        content: [{ type: 'thinking', thinking: 'Hm' } as any],
        tool_calls: [call],
      }),
      new ToolMessage({ id: 't', content: '{"not":"parsed"}', tool_call_id: 'c1', status: 'error' }),
      new AIMessage({ id: 'run-2', content: 'Done.' }),
      new AIMessage({ id: 'run-3', content: 'Another.' }),
      { nothing: true },
      null,
    ];
    expect(fromLangGraphMessages(messages)).to.deep.equal([
      { id: 'h', role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }] },
      {
        id: 'run-1',
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm' },
          { type: 'tool_use', callId: 'c1', name: 'look', input: { at: 1 } },
          { type: 'tool_result', callId: 'c1', name: 'look', output: '{"not":"parsed"}', isError: true },
          { type: 'text', text: 'Done.' },
        ],
      },
      { id: 'run-3', role: 'assistant', content: [{ type: 'text', text: 'Another.' }] },
    ]);
  });
});
