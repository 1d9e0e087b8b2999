import { expect } from 'chai';
import fc from 'fast-check';
import type { ChatMessage } from '../../server/chat-format/chat-types.js';
import { fromChatMessages, fromChatUsage, fromFinishReason } from '../../server/chat-format/from-chat.js';
import { toChatMessages, toChatUsage, toFinishReason } from '../../server/chat-format/to-chat.js';
import type { Message } from '../../shared/messages.js';

const text = fc.string({ minLength: 1, maxLength: 8 });
const base64 = fc.base64String({ minLength: 4, maxLength: 12 });

const part = fc.oneof(
  text.map((value) => ({ type: 'text' as const, text: value })),
  base64.map((data) => ({
    type: 'image_url' as const,
    image_url: { url: `data:image/png;base64,${data}` },
  })),
  fc.constant({ type: 'image_url' as const, image_url: { url: 'https://pictures.test/a.png' } }),
  base64.map((data) => ({ type: 'input_audio' as const, input_audio: { data, format: 'mp3' as const } })),
  base64.map((data) => ({
    type: 'file' as const,
    file: { file_data: `data:application/pdf;base64,${data}`, filename: 'a.pdf' },
  })),
);

/** One step of a tool loop: text, calls with their results. */
const step = fc.record({
  said: fc.option(text),
  inputs: fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 }),
});

const conversation: fc.Arbitrary<ChatMessage[]> = fc
  .array(
    fc.oneof(
      text.map((content): ChatMessage[] => [{ role: 'system', content }]),
      fc
        .array(part, { minLength: 2, maxLength: 4 })
        .map((content): ChatMessage[] => [{ role: 'user', content }]),
      text.map((content): ChatMessage[] => [{ role: 'user', content }]),
      fc.array(step, { minLength: 1, maxLength: 3 }).map((steps): ChatMessage[] =>
        steps.flatMap(({ said, inputs }): ChatMessage[] => {
          if (said === null && inputs.length === 0) return [];
          const calls = inputs.map((input) => ({
            id: '',
            type: 'function' as const,
            function: {
              name: 'look',
              arguments: JSON.stringify(typeof input === 'string' ? { input } : (input ?? {})),
            },
          }));
          return [
            { role: 'assistant', content: said, ...(calls.length > 0 && { tool_calls: calls }) },
            ...calls.map((): ChatMessage => ({ role: 'tool', tool_call_id: '', content: `result ${said}` })),
          ];
        }),
      ),
    ),
    { maxLength: 6 },
  )
  .map((turns) => numbered(turns.flat()));

/** Gives each call an id of its own, and its result the same. */
function numbered(messages: ChatMessage[]): ChatMessage[] {
  let made = 0;
  let used = 0;
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: `call_${used++}` };
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: `call_${made++}` })) };
  });
}

const kept = (messages: ReturnType<typeof fromChatMessages>) => messages as unknown as Message[];

describe('chat messages', () => {
  it('come back as they were after a trip through ours', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        expect(toChatMessages(kept(fromChatMessages(messages)))).to.deep.equal(messages);
      }),
    );
  });

  it('are well-formed whatever an answer of ours holds: each call has one result, right behind it', () => {
    const block = fc.oneof(
      text.map((value) => ({ type: 'text' as const, text: value })),
      fc.nat(5).map((n) => ({ type: 'tool_use' as const, callId: `c${n}`, name: 'look', input: {} })),
      fc.nat(5).map((n) => ({
        type: 'tool_result' as const,
        callId: `c${n}`,
        name: 'look',
        output: n,
        isError: false,
      })),
      text.map((value) => ({ type: 'reasoning' as const, text: value })),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(block, { selector: (it) => JSON.stringify(it), maxLength: 12 }),
        (content) => {
          const written = toChatMessages([{ role: 'assistant', content }]);
          let open: string[] = [];
          for (const message of written) {
            if (message.role === 'tool') expect(open.shift()).to.equal(message.tool_call_id);
            else {
              expect(open).to.deep.equal([]);
              open = message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [];
            }
          }
          expect(open).to.deep.equal([]);
          const uses = content.filter(({ type }) => type === 'tool_use').length;
          expect(written.filter(({ role }) => role === 'tool').length).to.equal(uses);
        },
      ),
    );
  });

  it('give each call its own result, also where a model uses its ids again', () => {
    const call = (n: number) => ({ type: 'tool_use' as const, callId: 'call_0', name: 'look', input: { n } });
    const result = (n: number) =>
      ({ type: 'tool_result', callId: 'call_0', name: 'look', output: `r${n}`, isError: false }) as const;
    const written = toChatMessages([
      { role: 'assistant', content: [call(1), result(1), call(2)] },
      { role: 'tool', content: [result(2)] },
      { role: 'assistant', content: [call(3), call(4), result(3), result(4)] },
    ]);
    const results = written.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
    expect(results).to.deep.equal(['r1', 'r2', 'r3', 'r4']);
  });

  it('carry files inline, also as bare base64, and name those that are elsewhere', () => {
    const file = { type: 'file', mediaType: 'application/pdf' } as const;
    const [asked] = toChatMessages([
      {
        role: 'user',
        content: [
          { ...file, name: 'a.pdf', url: 'https://files.test/a.pdf' },
          { ...file, url: 'data:application/pdf;base64,AAAA' },
          { ...file, name: 'b.pdf', data: 'BBBB' },
        ],
      },
    ]);
    expect(asked?.content).to.deep.equal([
      { type: 'text', text: '[File a.pdf: https://files.test/a.pdf]' },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,BBBB', filename: 'b.pdf' } },
    ]);
    const [read] = fromChatMessages([
      { role: 'user', content: [{ type: 'file', file: { file_data: 'CCCC', filename: 'c' } }] },
    ]);
    expect(read?.content).to.deep.equal([
      { type: 'file', mediaType: 'application/octet-stream', data: 'CCCC', name: 'c' },
    ]);
  });

  it('leave out the calls that a provider made, and their results', () => {
    const call = (callId: string, more = {}) =>
      ({ type: 'tool_use', callId, name: 'look', input: {}, ...more }) as const;
    const result = (callId: string) =>
      ({ type: 'tool_result', callId, name: 'look', output: 'r', isError: false }) as const;
    const written = toChatMessages([
      { role: 'assistant', content: [call('c', { providerExecuted: true }), result('c')] },
      { role: 'assistant', content: [call('c'), result('c')] },
    ]);
    expect(written.map(({ role }) => role)).to.deep.equal(['assistant', 'tool']);
  });

  it('name what they cannot carry', () => {
    const file = [{ role: 'user', content: [{ type: 'file', file: { filename: 'f' } }] }] as ChatMessage[];
    expect(() => fromChatMessages(file)).to.throw(/messages\[0\]\.content\[0\]\.file: needs file_data/);
    const odd = [{ role: 'user', content: [{ type: 'video' }] }] as unknown as ChatMessage[];
    expect(() => fromChatMessages(odd)).to.throw(/messages\[0\]\.content\[0\]\.type/);
  });

  it('carry usage that adds up, and the reasons of an end', () => {
    const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 99, cachedInputTokens: 1 };
    expect(toChatUsage(usage)).to.deep.equal({
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      prompt_tokens_details: { cached_tokens: 1 },
    });
    expect(fromChatUsage(toChatUsage(usage)!)).to.deep.equal({ ...usage, totalTokens: 7 });
    expect(toChatUsage({})).to.equal(null);
    for (const reason of ['end', 'max_tokens', 'tool_use'] as const)
      expect(fromFinishReason(toFinishReason(reason))).to.equal(reason);
  });
});
