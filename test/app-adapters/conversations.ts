import * as fc from 'fast-check';
import type { ContentBlock, Message, Role } from '../../shared/messages.js';

let count = 0;

export function message(role: Role, content: readonly ContentBlock[]): Message {
  count += 1;
  return { id: `m${count}`, role, content, createdAt: count };
}

const text = fc.string({ minLength: 1 });
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const textBlock = text.map((value): ContentBlock => ({ type: 'text', text: value }));
const reasoning = text.map((value): ContentBlock => ({ type: 'reasoning', text: value }));

const media = fc
  .record({
    type: fc.constantFrom('image' as const, 'file' as const),
    url: fc.boolean(),
    name: fc.option(text, { nil: undefined }),
  })
  .map(({ type, url, name }): ContentBlock => {
    const mediaType = type === 'image' ? 'image/png' : 'application/pdf';
    const source = url ? { url: `https://files.example/${type}` } : { data: 'AAAA' };
    return { type, mediaType, ...(name !== undefined && { name }), ...source };
  });

/** One step of a model's loop: what it says, what it calls, and what the tools answer. */
const step = fc
  .record({
    said: fc.array(fc.oneof(textBlock, reasoning), { minLength: 1, maxLength: 3 }),
    calls: fc.array(
      fc.record({
        name: fc.stringMatching(/^[a-z]{1,8}$/),
        input: fc.dictionary(text, json),
        output: json,
        isError: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ said, calls }): ContentBlock[] => {
    const called = calls.map((call) => ({ ...call, callId: `call_${++count}` }));
    return [
      ...said,
      ...called.map(({ callId, name, input }): ContentBlock => ({ type: 'tool_use', callId, name, input })),
      ...called.map(
        ({ callId, name, output, isError }): ContentBlock => ({
          type: 'tool_result',
          callId,
          name,
          output,
          isError,
        }),
      ),
    ];
  });

/** Steps of one answer; all but the last call tools, else they would be one. */
const answer = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => {
  const calling = steps.filter(
    (blocks, at) => at === steps.length - 1 || blocks.at(-1)!.type === 'tool_result',
  );
  return message('assistant', calling.flat());
});

const asked = fc
  .array(fc.oneof(textBlock, media), { minLength: 1, maxLength: 3 })
  .map((content) => message('user', content));

const instruction = textBlock.map((block) => message('system', [block]));

/** Conversations of questions and answers as a session's history holds them. */
export function conversations(): fc.Arbitrary<Message[]> {
  return fc
    .array(fc.oneof(fc.tuple(asked, answer), fc.tuple(instruction, asked)), { maxLength: 4 })
    .map((pairs) => pairs.flat());
}

/** An answer whose calls have their results after other calls, in another message, and one that nobody asked for. */
export function interleavedCalls(): Message[] {
  const call = (callId: string): ContentBlock => ({ type: 'tool_use', callId, name: 'look', input: {} });
  const result = (callId: string): ContentBlock => ({
    ...{ type: 'tool_result', callId, name: 'look', output: callId },
    isError: false,
  });
  const answer = message('assistant', [call('a'), call('b'), result('a'), call('c'), result('b')]);
  return [answer, message('tool', [result('c'), result('unasked')])];
}
