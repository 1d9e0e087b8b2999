import { expect } from 'chai';
import fc from 'fast-check';
import { toToolCall } from '../../../server/chat-format/to-chat.js';
import type { AppEvent } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { cases } from '../../support/fuzz.js';
import { runs, says, startChat, tools } from './fixtures.js';

const delta = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
const item: fc.Arbitrary<string | AppEvent> = fc.oneof(
  delta,
  delta.map((text) => ({ type: 'content_delta' as const, delta: text })),
  delta.map((text) => ({ type: 'reasoning_delta' as const, delta: text })),
  fc
    .tuple(fc.uuid(), fc.constantFrom('look', 'find'), fc.dictionary(delta, fc.jsonValue({ maxDepth: 2 })))
    .map(([callId, name, input]) => ({ type: 'tool_use' as const, callId, name, input })),
  fc.constant({ type: 'data' as const, id: 'd', name: 'seen', value: 1 }),
);

describe('what the openai client folds', () => {
  it('is the session’s message, whatever the app says and calls', async () => {
    let script: readonly (string | AppEvent)[] = [];
    const app = runs(async function* () {
      yield* script;
    });
    const { client, gateway } = await startChat({
      app,
      limits: { sendsPerSecond: 1_000_000, sessionsPerUser: 10_000 },
    });
    let session = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 12 }), fc.boolean(), async (said, stream) => {
        script = said;
        session += 1;
        const options = { headers: { 'x-session-id': `s${session}` } };
        const body = says('Go', { tools: tools('look', 'find') });
        const { completions } = client().chat;
        const { choices } = stream
          ? await completions.stream({ ...body, stream: true }, options).finalChatCompletion()
          : await completions.create(body, options);
        const { messages } = await gateway.session(`s${session}`, { user: { id: 'alice' } }).history();
        const content = messages.find(({ role }) => role === 'assistant')?.content ?? [];
        const called = content.flatMap((block) => (block.type === 'tool_use' ? [toToolCall(block)] : []));
        const [{ message, finish_reason }] = choices as [(typeof choices)[0]];
        expect(message.content ?? '').to.equal(textOf({ content }));
        const calls = (message.tool_calls ?? []).map((call) => {
          if (call.type !== 'function') return call;
          const { name, arguments: given } = call.function;
          return { id: call.id, type: call.type, function: { name, arguments: given } };
        });
        expect(calls).to.deep.equal(called);
        expect(finish_reason).to.equal(called.length > 0 ? 'tool_calls' : 'stop');
      }),
      { numRuns: cases(60) },
    );
  });
});
