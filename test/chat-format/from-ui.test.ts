import { convertToModelMessages, type UIMessage } from 'ai';
import { expect } from 'chai';
import { toModelMessages } from '../../server/app-adapters/ai-sdk/to-model-messages.js';
import { conversationOf } from '../../server/chat-format/imported.js';
import { asPath } from '../../server/chat-format/path.js';
import type { GatewayError } from '../../shared/errors.js';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';

const MESSAGES: UIMessage[] = [
  { id: 's', role: 'system', parts: [{ type: 'text', text: 'Be short' }] },
  {
    id: 'q',
    role: 'user',
    metadata: { tab: 1 },
    parts: [
      { type: 'text', text: 'What is it?', state: 'done' },
      { type: 'file', mediaType: 'image/png', filename: 'a.png', url: PNG },
      { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/a.pdf' },
    ],
  },
  {
    id: 'a',
    role: 'assistant',
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'Look it up' },
      { type: 'text', text: 'One moment.' },
      {
        type: 'tool-find',
        toolCallId: 'c1',
        state: 'output-available',
        input: { q: 'x' },
        output: { hits: 2 },
      },
      {
        type: 'dynamic-tool',
        toolName: 'fetch',
        toolCallId: 'c2',
        state: 'output-error',
        input: { url: 'u' },
        errorText: 'no network',
      },
      { type: 'step-start' },
      { type: 'source-url', sourceId: '1', url: 'https://example.com', title: 'Example' },
      { type: 'data-weather', id: 'w', data: { degrees: 20 } },
      { type: 'text', text: 'A table.' },
    ],
  },
];

describe('UIMessages of the AI SDK', () => {
  it('become messages, with the calls of a step before their results', () => {
    const [system, question, answer] = conversationOf('ui', MESSAGES);
    expect(system).to.deep.equal({ id: 's', role: 'system', content: [{ type: 'text', text: 'Be short' }] });
    expect(question).to.deep.equal({
      id: 'q',
      role: 'user',
      metadata: { tab: 1 },
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'a.png' },
        { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/a.pdf' },
      ],
    });
    const call = { type: 'tool_use', callId: 'c1', name: 'find', input: { q: 'x' } };
    const other = { type: 'tool_use', callId: 'c2', name: 'fetch', input: { url: 'u' } };
    expect(answer!.content).to.deep.equal([
      { type: 'reasoning', text: 'Look it up' },
      { type: 'text', text: 'One moment.' },
      call,
      other,
      { type: 'tool_result', callId: 'c1', name: 'find', output: { hits: 2 }, isError: false },
      { type: 'tool_result', callId: 'c2', name: 'fetch', output: 'no network', isError: true },
      { type: 'resource', uri: 'https://example.com', text: 'Example' },
      { type: 'data', id: 'w', name: 'weather', value: { degrees: 20 } },
      { type: 'text', text: 'A table.' },
    ]);
  });

  it('say to a model what the AI SDK itself makes of them', async () => {
    const plain = MESSAGES.map((message) => ({
      ...message,
      parts: message.parts.filter(({ type }) => !/^(data-|source-|reasoning)/.test(type)),
    }));
    const ours = toModelMessages(asPath(conversationOf('ui', plain), null));
    const theirs = await convertToModelMessages(plain);
    const essence = (messages: readonly { role: string; content: unknown }[]): unknown =>
      messages.map(({ role, content }) => [
        role,
        typeof content === 'string'
          ? [content]
          : (content as Record<string, any>[]).map(({ type, text, toolCallId, input }) => [
              type,
              text ?? toolCallId,
              type === 'tool-call' ? input : undefined,
            ]),
      ]);
    const same = (messages: readonly { role: string; content: unknown }[]) =>
      JSON.parse(JSON.stringify(essence(messages)).replaceAll('["text","Be short",null]', '"Be short"'));
    expect(same(ours)).to.deep.equal(same(theirs));
  });

  it('keep calls that have no result yet, and say why one was denied', () => {
    const states = [
      { state: 'input-streaming', input: undefined },
      { state: 'input-available', input: { n: 1 } },
      { state: 'approval-requested', input: { n: 1 }, approval: { id: 'x' } },
      { state: 'output-denied', input: { n: 1 }, approval: { id: 'x', approved: false, reason: 'too dear' } },
    ];
    const parts = states.map((state, n) => ({ type: 'tool-buy', toolCallId: `c${n}`, ...state }));
    const [message] = conversationOf('ui', [{ id: 'a', role: 'assistant', parts }]);
    const content = message!.content as readonly { type: string; output?: unknown; isError?: boolean }[];
    expect(content.map(({ type }) => type)).to.deep.equal([...states.map(() => 'tool_use'), 'tool_result']);
    expect(content.at(-1)).to.include({ output: 'Denied: too dear', isError: true });
    expect(content[3]).to.include({ denied: true });
  });

  it('are refused by the field that has no counterpart', () => {
    for (const [part, path] of [
      [{ type: 'text' }, 'messages.0.parts.0.text'],
      [{ type: 'tool-find', state: 'output-available' }, 'messages.0.parts.0.toolCallId'],
      [{ type: 'tool-find', toolCallId: 'c', state: 'odd' }, 'messages.0.parts.0.state'],
      [{ type: 'data-' }, 'messages.0.parts.0.type'],
      [{ type: 'hologram' }, 'messages.0.parts.0.type'],
      [{ type: 'file', mediaType: 'image/png' }, 'messages.0.parts.0.url'],
    ] as const) {
      let refused: GatewayError | null = null;
      try {
        conversationOf('ui', [{ role: 'user', parts: [part] }]);
      } catch (error) {
        refused = error as GatewayError;
      }
      expect(refused, path).to.deep.include({ code: 'INVALID_PARAMS' });
      expect((refused!.details as { path: string }[])[0]!.path).to.equal(path);
    }
  });
});
