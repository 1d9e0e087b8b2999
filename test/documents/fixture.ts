import * as valibot from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import { defineApp, GatewayError, method, type Turn, tool, tracked } from '../../server/index.js';
import { gate } from '../support/gate.js';

/** A recursive schema, whose conversion refers to itself. */
const tree: z.ZodType = z.object({ name: z.string(), children: z.array(z.lazy(() => tree)) });

/** Methods of every kind. */
export const describedMethods = {
  ping: async () => ({ pong: true }),
  nothing: async () => undefined,
  tasks: {
    create: method({
      description: 'Adds a task',
      schema: z.object({ title: z.string().min(1), tags: z.array(z.string()).default([]) }),
      result: z.object({ id: z.string() }),
      handler: async ({ title }) => ({ id: title }),
    }),
    find: method({ schema: z.object({ text: z.string() }).optional(), handler: async () => [] }),
    watch: method({
      description: 'Tells of changes',
      schema: z.object({ count: z.number().int() }),
      result: z.object({ n: z.number() }),
      handler: async function* ({ count }) {
        for (let n = 0; n < count; n += 1) yield { n };
        if (count === 3) throw new GatewayError({ code: 'OVERLOADED' });
      },
    }),
    follow: method({
      description: 'Tells of changes after the last that was heard of',
      result: z.object({ n: z.number() }),
      handler: async function* (_params: void, { lastEventId = '0' }) {
        yield tracked(lastEventId);
        for (let n = Number(lastEventId) + 1; n < 4; n += 1) yield tracked(`${n}`, { n });
      },
      stream: true,
    }),
    admin: {
      archive: method({
        roles: ['admin'],
        schema: z.object({ before: z.iso.date() }),
        handler: async () => 1,
      }),
    },
  },
  'flat:create_it': method({
    schema: z3.object({ at: z3.tuple([z3.string(), z3.number()]) }),
    handler: () => 1,
  }),
  'flat.create.it': method({ schema: valibot.object({ n: valibot.number() }), handler: () => 1 }),
  'a@b': async () => 1,
  'a+b': async () => 1,
  grow: method({ schema: tree, handler: () => null }),
  date: method({ schema: z.date(), handler: () => null }),
  denied: method({ guard: () => false, handler: () => null }),
  slow: method({
    timeoutMs: 100,
    handler: (_params, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }),
};

/** A child run that goes on once it is steered. */
async function waitToBeSteered(turn: Turn): Promise<string> {
  while (turn.steered().length === 0) await new Promise(setImmediate);
  return 'steered';
}

/** An app whose runs make every event that a log can hold, as the words of the message ask for. */
export function talkative() {
  const held = gate();
  const began = gate();
  const app = defineApp({
    description: 'Does what it is told',
    tools: {
      add: tool({
        description: 'Adds',
        schema: z.object({ a: z.number() }),
        handler: async ({ a }, { progress }) => {
          progress(1, 2, 'half');
          return { sum: a + 1 };
        },
      }),
      pay: tool({ schema: z.object({ sum: z.number() }), confirm: true, handler: () => 'paid' }),
      sign: tool({
        schema: z.object({}),
        confirm: {
          expiresInMs: 60_000,
          onExpiry: 'deny',
          roles: ['admin'],
          escalate: { afterMs: 1, roles: ['cfo'] },
        },
        handler: () => 'signed',
      }),
      locate: tool({ schema: z.object({}), runsOn: 'client' }),
    },
    async *run(turn) {
      const words = new Set(turn.text.split(' '));
      yield 'Well. ';
      if (words.has('think')) yield { type: 'reasoning_delta', delta: 'Hm.' };
      if (words.has('data')) turn.data('chart', { points: [1] }, { id: 'c1' });
      if (words.has('emit')) turn.emit('task:created', { id: 1 });
      if (words.has('emit')) turn.emit('nothing', undefined);
      if (words.has('publish')) turn.publish('news', { n: 1 });
      if (words.has('usage')) turn.usage({ inputTokens: 1, cachedTokens: 2 });
      if (words.has('annotate')) turn.annotate({ model: 'tiny' });
      if (words.has('tool')) await turn.callTool('add', { a: 1 });
      if (words.has('pay')) await turn.callTool('pay', { sum: 2 });
      if (words.has('sign')) await turn.callTool('sign', {});
      if (words.has('locate')) await turn.callTool('locate', {});
      if (words.has('ask')) await turn.ask({ name: 'colour', payload: { of: 'sky' }, schema: z.string() });
      if (words.has('hold')) {
        began.open();
        await held.passed;
        for (const message of await turn.steered()) yield message.id;
      }
      if (words.has('spawn'))
        await turn.spawn('helper', { message: 'help', id: 'h', callId: 'c', run: waitToBeSteered }).result;
      if (words.has('person')) turn.handOff({ reason: 'a refund', roles: ['support'] });
      if (words.has('fail')) throw new GatewayError({ code: 'OVERLOADED' });
      yield 'Done.';
    },
  });
  return { app, held, began };
}
