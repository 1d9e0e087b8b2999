import { expect } from 'chai';
import { z } from 'zod';
import { defineApp } from '../../../server/index.js';
import { jsonHeaders } from '../../support/gateway.js';
import { as } from '../../support/users.js';
import { startResponses } from './fixtures.js';

const text = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.never()),
  logprobs: z.array(z.never()),
});
const status = z.enum(['in_progress', 'completed', 'incomplete']);
const item = z.union([
  z.object({
    ...{ type: z.literal('message'), id: z.string(), status, role: z.literal('assistant') },
    content: z.array(text),
  }),
  z.object({
    ...{ type: z.literal('function_call'), id: z.string(), status, call_id: z.string() },
    ...{ name: z.string(), arguments: z.string() },
  }),
]);
const nullable = z.string().nullable();
const count = z.number().int();
/** A response, with all fields that Open Responses requires. */
const response = z.object({
  ...{ id: z.string(), object: z.literal('response'), created_at: count, completed_at: count.nullable() },
  ...{ status: z.string(), incomplete_details: z.null(), model: z.string(), output: z.array(item) },
  ...{ previous_response_id: nullable, instructions: nullable, error: z.null() },
  tools: z.array(
    z.object({
      ...{ type: z.literal('function'), name: z.string(), description: nullable },
      ...{ parameters: z.record(z.string(), z.unknown()).nullable(), strict: z.boolean().nullable() },
    }),
  ),
  ...{ tool_choice: z.literal('auto'), truncation: z.literal('disabled'), parallel_tool_calls: z.boolean() },
  text: z.object({ format: z.object({ type: z.literal('text') }) }),
  ...{ top_p: z.number(), presence_penalty: z.number(), frequency_penalty: z.number(), top_logprobs: count },
  ...{ temperature: z.number(), reasoning: z.null(), max_output_tokens: z.null(), max_tool_calls: z.null() },
  usage: z
    .object({
      ...{ input_tokens: count, output_tokens: count, total_tokens: count },
      input_tokens_details: z.object({ cached_tokens: count }),
      output_tokens_details: z.object({ reasoning_tokens: count }),
    })
    .nullable(),
  ...{ store: z.boolean(), background: z.boolean(), service_tier: z.string(), metadata: z.object({}) },
  ...{ safety_identifier: nullable, prompt_cache_key: nullable },
});
const of = { item_id: z.string(), output_index: count };
const inPart = { ...of, content_index: count };
/** The fields that Open Responses requires of each event that these cases have. */
const EVENTS: Readonly<Record<string, z.ZodRawShape>> = {
  'response.created': { response },
  'response.in_progress': { response },
  'response.completed': { response },
  'response.output_item.added': { output_index: count, item },
  'response.output_item.done': { output_index: count, item },
  'response.content_part.added': { ...inPart, part: text },
  'response.content_part.done': { ...inPart, part: text },
  'response.output_text.delta': { ...inPart, delta: z.string(), logprobs: z.array(z.never()) },
  'response.output_text.done': { ...inPart, text: z.string(), logprobs: z.array(z.never()) },
  'response.function_call_arguments.delta': { ...of, delta: z.string() },
  'response.function_call_arguments.done': { ...of, arguments: z.string() },
};

const said = (role: string, content: unknown) => ({ type: 'message', role, content });
const weather = {
  ...{ type: 'function', name: 'get_weather', description: 'Tells the weather of a place' },
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const picture = { type: 'input_image', image_url: `data:image/png;base64,${pixel}` };

/** The seven cases of its suite, with the type of the output that each must have. */
const CASES: readonly (readonly [string, object, 'message' | 'function_call', boolean?])[] = [
  ['a text', { input: [said('user', 'Say hello')] }, 'message'],
  ['a text in a stream', { input: [said('user', 'Count')] }, 'message', true],
  ['a system prompt', { input: [said('system', 'You are a pirate'), said('user', 'Hello')] }, 'message'],
  ['a function', { input: [said('user', 'How is the weather?')], tools: [weather] }, 'function_call'],
  ['one in a stream', { input: [said('user', 'And here?')], tools: [weather] }, 'function_call', true],
  ['a picture', { input: [said('user', [{ type: 'input_text', text: 'What is it?' }, picture])] }, 'message'],
  [
    'several turns',
    { input: [said('user', 'I am Ann'), said('assistant', 'Hello'), said('user', 'Who am I?')] },
    'message',
  ],
];

describe('responses as Open Responses describes them', () => {
  const app = defineApp({
    async *run(turn: any) {
      if (turn.clientTools.length > 0) return void (await turn.callTool('get_weather', { location: 'Rome' }));
      yield `${turn.history.length} before, `;
      yield turn.message.content.map(({ type }: any) => type).join();
    },
  });

  for (const [name, body, type, stream = false] of CASES)
    it(`has ${name}`, async () => {
      const { baseURL } = await startResponses({ app });
      const answer = await fetch(`${baseURL}/responses`, {
        method: 'POST',
        headers: { ...jsonHeaders(), ...as('alice') },
        body: JSON.stringify({ model: 'default', ...body, stream }),
      });
      expect(answer.status).to.equal(200);
      const whole = await answer.text();
      const events: any[] = stream
        ? [...whole.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, event, data]) => ({
            event,
            ...JSON.parse(data!),
          }))
        : [];
      for (const [at, { event, ...data }] of events.entries()) {
        expect([data.type, data.sequence_number]).to.deep.equal([event, at]);
        const form = z.object({ type: z.string(), sequence_number: count, ...EVENTS[data.type] });
        expect(EVENTS, data.type).to.have.property(data.type);
        expect(form.safeParse(data).error?.issues ?? [], JSON.stringify(data)).to.deep.equal([]);
      }
      const told = response.parse(stream ? events.at(-1).response : JSON.parse(whole));
      expect(told.status).to.equal('completed');
      expect(told.output.map((each) => each.type)).to.deep.equal([type]);
      if (!stream) return;
      const types = new Set(events.map((event) => event.type));
      for (const each of Object.keys(EVENTS)) {
        const isOther = /text|content_part/.test(each)
          ? type !== 'message'
          : /arguments/.test(each) && type === 'message';
        expect(types.has(each), each).to.equal(!isOther);
      }
    });
});
