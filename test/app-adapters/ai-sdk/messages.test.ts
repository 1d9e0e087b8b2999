import { type ModelMessage, modelMessageSchema } from 'ai';
import { expect } from 'chai';
import fc from 'fast-check';
import { fromModelMessages, toModelMessages } from '../../../server/app-adapters/ai-sdk/index.js';
import type { ContentBlock, Message, MessageInput } from '../../../shared/messages.js';

type Shown = Pick<Message, 'role' | 'content'>;

const text = fc.string({ minLength: 1, maxLength: 8 });
const json = fc.jsonValue({ maxDepth: 2 });
const named = fc.record({ name: text }, { requiredKeys: [] });
const source = fc.oneof(
  fc.base64String({ minLength: 4, maxLength: 12 }).map((data) => ({ data })),
  fc.webUrl().map((url) => ({ url })),
);
const media = fc
  .tuple(
    fc.constantFrom(['image', 'image/png'], ['audio', 'audio/wav'], ['file', 'application/pdf']),
    named,
    source,
  )
  .map(([[type, mediaType], name, from]) => ({ type, mediaType, ...name, ...from }) as ContentBlock);
const written = fc.record({ type: fc.constant('text' as const), text });
const thought = fc.record({ type: fc.constant('reasoning' as const), text });

const output = fc.oneof(
  fc.record({ output: json, isError: fc.boolean() }),
  fc
    .array(fc.oneof(written, fc.constant({ type: 'image', mediaType: 'image/png', data: 'AAAA' })), {
      minLength: 1,
    })
    .map((content) => ({ output: { content }, isError: false })),
);

/** One step of an answer: what is said, then calls and their results. */
const step = fc.record({
  said: fc.array(fc.oneof(written, thought, media), { maxLength: 2 }),
  calls: fc.array(fc.record({ name: text, input: json, result: output }), { maxLength: 3 }),
});

/** Conversations as a gateway has them: an answer in steps, and a message of the user before each. */
const conversation: fc.Arbitrary<Shown[]> = fc
  .array(
    fc.tuple(
      fc.array(fc.oneof(written, media), { minLength: 1, maxLength: 3 }),
      fc.array(step, { minLength: 1, maxLength: 3 }),
      written,
    ),
    { maxLength: 3 },
  )
  .map((turns) =>
    turns.flatMap(([question, steps, last], turn): Shown[] => {
      const content = steps.flatMap(({ said, calls }, at): ContentBlock[] => {
        const called = calls.map((call, n) => ({ ...call, callId: `${turn}-${at}-${n}` }));
        return [
          ...said,
          ...called.map(({ callId, name, input }) => ({ type: 'tool_use' as const, callId, name, input })),
          ...called.map(({ callId, name, result }) => ({
            type: 'tool_result' as const,
            callId,
            name,
            ...result,
          })),
        ];
      });
      return [
        { role: 'user', content: question },
        { role: 'assistant', content: [...content, last] },
      ];
    }),
  );

/** Anything a client or an interrupted run can leave in a session. */
const anything: fc.Arbitrary<Shown[]> = fc.array(
  fc.record({
    role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text' as const), text: fc.string({ maxLength: 3 }) }),
        thought,
        media,
        fc.constant<ContentBlock>({ type: 'image', mediaType: 'image/png', url: 'not a url' }),
        fc.constant<ContentBlock>({ type: 'file', mediaType: 'text/plain' }),
        fc.record({ type: fc.constant('resource' as const), uri: text }),
        fc.record({ type: fc.constant('data' as const), id: text, name: text, value: json }),
        fc.record({
          type: fc.constant('tool_use' as const),
          callId: fc.constantFrom('a', 'b'),
          name: text,
          input: json,
        }),
        fc
          .record({ callId: fc.constantFrom('a', 'b'), name: text, result: output })
          .map(({ result, ...rest }) => ({ type: 'tool_result' as const, ...rest, ...result })),
      ),
      { maxLength: 6 },
    ),
  }),
  { maxLength: 5 },
);

const shown = (messages: readonly MessageInput[]): Shown[] => messages as unknown as Shown[];

describe('messages of the AI SDK', () => {
  it('come from ours and go back without a loss', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        expect(fromModelMessages(toModelMessages(messages))).to.deep.equal(messages);
      }),
    );
  });

  it('come back as they were after a trip through ours', () => {
    fc.assert(
      fc.property(anything, (messages) => {
        const once = toModelMessages(messages);
        expect(toModelMessages(shown(fromModelMessages(once)))).to.deep.equal(once);
      }),
    );
  });

  it('are well-formed whatever a session holds: each call has one result, right behind its step', () => {
    fc.assert(
      fc.property(anything, (messages) => {
        const all = toModelMessages(messages);
        for (const message of all) expect(modelMessageSchema.safeParse(message).success).to.equal(true);
        all.forEach((message, at) => {
          const calls = idsOf(message, 'tool-call');
          const answers = idsOf(all[at + 1], 'tool-result');
          if (calls.length > 0) expect(answers).to.deep.equal(calls);
          else expect(all[at + 1]?.role).to.not.equal('tool');
        });
        expect(all[0]?.role).to.not.equal('tool');
        const uses = messages.filter(({ role }) => role === 'assistant').flatMap(({ content }) => content);
        expect(all.flatMap((message) => idsOf(message, 'tool-call'))).to.deep.equal(
          uses.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : [])),
        );
      }),
    );
  });

  it('give a call whose run was cut off an error, and a call with a used id its own result', () => {
    const use = (n: number): ContentBlock => ({ type: 'tool_use', callId: 'call_0', name: 'look', input: n });
    const result = (output: string): ContentBlock => ({
      type: 'tool_result',
      callId: 'call_0',
      name: 'look',
      output,
      isError: false,
    });
    const [, lost, , found] = toModelMessages([
      { role: 'assistant', content: [use(1)] },
      { role: 'assistant', content: [use(2), result('two')] },
    ]);
    expect(outputOf(lost)).to.deep.equal({ type: 'error-text', value: 'The tool did not answer' });
    expect(outputOf(found)).to.deep.equal({ type: 'text', value: 'two' });
  });

  it('put the results of tool messages behind their calls', () => {
    const messages = toModelMessages([
      { role: 'assistant', content: [{ type: 'tool_use', callId: 'c', name: 'look', input: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool_result', callId: 'c', name: 'look', output: 'x', isError: false }],
      },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
    ]);
    expect(messages.map(({ role }) => role)).to.deep.equal(['assistant', 'tool', 'user']);
    expect(outputOf(messages[1])).to.deep.equal({ type: 'text', value: 'x' });
  });

  it('of other makers are read: strings, images, denials, approvals, bytes', () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const given: ModelMessage[] = [
      { role: 'user', content: 'Hi' },
      {
        role: 'user',
        content: [
          { type: 'image', image: bytes },
          {
            type: 'file',
            data: new URL('https://a.test/b.pdf'),
            mediaType: 'application/pdf',
            filename: 'b',
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: {} },
          { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c' },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: false }] },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c',
            toolName: 'look',
            output: { type: 'execution-denied', reason: 'no' },
          },
        ],
      },
      { role: 'assistant', content: 'Well.' },
    ];
    expect(fromModelMessages(given)).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'user',
        content: [
          { type: 'image', mediaType: 'image/*', data: 'AQID' },
          { type: 'file', mediaType: 'application/pdf', name: 'b', url: 'https://a.test/b.pdf' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', callId: 'c', name: 'look', input: {} },
          { type: 'tool_result', callId: 'c', name: 'look', output: 'Denied: no', isError: true },
          { type: 'text', text: 'Well.' },
        ],
      },
    ]);
  });
});

function idsOf(message: ModelMessage | undefined, type: 'tool-call' | 'tool-result'): string[] {
  if (!message || typeof message.content === 'string') return [];
  return message.content.flatMap((part) => (part.type === type ? [part.toolCallId] : []));
}

function outputOf(message: ModelMessage | undefined): unknown {
  if (message?.role !== 'tool') return undefined;
  const [part] = message.content;
  return part?.type === 'tool-result' ? part.output : undefined;
}
