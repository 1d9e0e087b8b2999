import { createHook } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import * as z from 'zod';
import { channels, type GuardMessage } from '../../server/diagnostics/index.js';
import {
  type AppEvent,
  type Application,
  defineApp,
  type Guard,
  type GuardCheck,
  memoryStore,
  type SessionHandle,
  tool,
  toolResult,
} from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { type Message, textOf } from '../../shared/messages.js';
import { cases } from '../support/fuzz.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { refusalOf } from '../support/refused.js';

const SECRET = 'sk-live-4242';

/** Takes the secret out, wherever it is. */
const redact: GuardCheck = (text) =>
  text.includes(SECRET) ? { replace: text.replaceAll(SECRET, '[key]') } : 'pass';

interface Told {
  readonly session: SessionHandle;
  readonly events: readonly GatewayEvent[];
  readonly message: Message;
  readonly stopReason: string;
}

/** Has an app answer one message, and reads all that is said of it. */
async function answered(app: Application, guard?: Guard, text = 'hello'): Promise<Told> {
  const { gateway } = await startGateway({ app, store: memoryStore(), ...(guard && { guard }) });
  const session = gateway.session('main');
  const run = await session.send(text);
  const { message, stopReason } = await run.result;
  return { session, events: await eventsOf(session), message, stopReason };
}

async function eventsOf(session: SessionHandle): Promise<readonly GatewayEvent[]> {
  const events: GatewayEvent[] = [];
  for await (const event of session.events({ from: 'earliest' })) {
    events.push(event);
    if (event.type === 'message_end') break;
  }
  return events;
}

/** What an answer says, cut anywhere. */
const saying = (pieces: readonly (string | AppEvent)[], guard?: Guard): Application =>
  defineApp({
    ...(guard && { guard }),
    async *run() {
      yield* pieces;
    },
  });

const pieces = (text: string, cuts: readonly number[]): string[] => {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, at) => text.slice(from, places[at] ?? text.length));
};

describe('held streaming', () => {
  it('says nothing that a check has not let through, however the text is cut', async function () {
    this.timeout(60_000);
    const filler = fc.string({ unit: 'grapheme', maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        filler,
        filler,
        fc.array(fc.nat({ max: 200 }), { maxLength: 12 }),
        fc.record({
          chars: fc.integer({ min: 1, max: 30 }),
          sentences: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
          ms: fc.constantFrom(0, 500),
          overlap: fc.integer({ min: SECRET.length, max: 40 }),
        }),
        async (before, after, cuts, window) => {
          const whole = `${before}${SECRET}${after} ${SECRET}`;
          const told = await answered(saying(pieces(whole, cuts)), { check: redact, window });
          expect(textOf(told.message)).to.equal(whole.replaceAll(SECRET, '[key]'));
          expect(JSON.stringify(told.events)).to.not.include(SECRET);
          expect(told.stopReason).to.equal('end');
        },
      ),
      { numRuns: cases(40) },
    );
  });

  it('holds what is not checked back from everybody, and shows the beginning of a long answer before its end', async () => {
    const verdict = gate();
    const more = gate();
    const app = defineApp({
      guard: {
        window: { chars: 10, overlap: 0 },
        check: async (text) => {
          if (text.includes('wait')) await verdict.passed;
        },
      },
      async *run() {
        yield 'The first is checked. ';
        yield 'wait for it';
        await more.passed;
        yield ' and more';
      },
    });
    const { gateway } = await startGateway({ app, store: memoryStore() });
    const session = gateway.session('main');
    const run = await session.send('hello');
    const events = session.events({ from: 'earliest' })[Symbol.asyncIterator]();
    const said: string[] = [];
    while (said.length === 0) {
      const { value } = await events.next();
      if (value.type === 'content_delta') said.push(value.delta);
    }
    expect(said).to.deep.equal(['The first is checked. ']);
    expect(JSON.stringify(await session.history())).to.not.include('wait for it');
    verdict.open();
    more.open();
    expect(textOf((await run.result).message)).to.equal('The first is checked. wait for it and more');
    await events.return?.();
  });

  it('ends the run with what is shown in its place, and keeps what was let through', async () => {
    const check: GuardCheck = (text) => (text.includes('bad') ? { end: '[stopped]' } : undefined);
    const app = saying(['All of this is well. ', 'This is bad. ', 'never said'], {
      check,
      window: { sentences: 1, overlap: 0 },
    });
    const told = await answered(app);
    expect(told.stopReason).to.equal('moderated');
    expect(textOf(told.message)).to.equal('All of this is well. [stopped]');
    expect(JSON.stringify(told.events)).to.not.include('bad').and.not.include('never');
    const [, message] = (await told.session.history()).messages;
    expect(message).to.include({ stopReason: 'moderated' });
  });

  it('has checks look at the same time, and one that ends decides, whatever the others replace', async () => {
    let open = 0;
    let most = 0;
    const slow =
      (verdict: ReturnType<GuardCheck>): GuardCheck =>
      async () => {
        most = Math.max(most, ++open);
        await delay(5);
        open -= 1;
        return verdict;
      };
    const app = saying(['anything'], { check: [slow({ replace: 'b' }), slow('pass'), slow({ end: 'c' })] });
    const told = await answered(app);
    expect(most).to.equal(3);
    expect(textOf(told.message)).to.equal('c');
  });

  it('has what one check puts in place seen by the others that replace', async () => {
    const swap =
      (from: string, to: string): GuardCheck =>
      (text) =>
        text.includes(from) ? { replace: text.replaceAll(from, to) } : 'pass';
    const told = await answered(saying(['mail and key'], { check: [swap('mail', 'M'), swap('key', 'K')] }));
    expect(textOf(told.message)).to.equal('M and K');
  });

  it('tells a check of what was said before, of the run, the user and the kind', async () => {
    const asked: unknown[] = [];
    const check: GuardCheck = (text, { soFar, kind, run, user }) => {
      asked.push([text, soFar, kind, run?.app, user?.id]);
    };
    const window = { chars: 4, overlap: 2 };
    await answered(saying(['abcd', 'efgh', { type: 'reasoning_delta', delta: 'why' }], { check, window }));
    const host = ['default', 'token'];
    expect(asked).to.deep.equal([
      ['abcd', '', 'text', ...host],
      ['cdefgh', 'ab', 'text', ...host],
      ['why', '', 'reasoning', ...host],
    ]);
  });

  for (const [failing, check] of [
    [
      'throws',
      () => {
        throw new Error('no model');
      },
    ],
    ['hangs', () => new Promise<undefined>(() => {})],
    ['says what is no word', () => ({ allow: true }) as never],
  ] as const)
    for (const onFailure of ['end', 'pass'] as const)
      it(`follows its policy where a check ${failing}: ${onFailure}`, async () => {
        const heard: GuardMessage[] = [];
        const listener = (message: GuardMessage): void => void heard.push(message);
        channels.guard.subscribe(listener);
        const app = saying(['hello'], { check, onFailure, timeoutMs: 20 });
        const { gateway, log } = await startGateway({ app, store: memoryStore() });
        const { stopReason, message } = await (await gateway.session('main').send('hello')).result;
        channels.guard.unsubscribe(listener);
        expect(stopReason).to.equal(onFailure === 'end' ? 'moderated' : 'end');
        expect(textOf(message)).to.equal(onFailure === 'end' ? '' : 'hello');
        const mine = heard.filter(({ gatewayId }) => gatewayId === gateway.id);
        expect(mine.map(({ outcome }) => outcome)).to.deep.equal(['failed', onFailure]);
        expect(log.lines.map((line) => line.message)).to.deep.include(
          `a check of the guard failed (text): the text is ${onFailure === 'end' ? 'not said' : 'said unchecked'}`,
        );
      });

  it('checks inputs and outputs of tools before anything is done with them', async () => {
    const inputs: unknown[] = [];
    const app = defineApp({
      guard: { check: redact, parts: ['tool-input', 'tool-output'] },
      tools: {
        look: tool({
          schema: z.object({ at: z.string() }),
          handler: (input) => {
            inputs.push(input);
            return { found: SECRET };
          },
        }),
        show: tool({ handler: () => toolResult({ content: [{ type: 'text', text: SECRET }] }) }),
      },
      async *run(turn) {
        const found = await turn.callTool('look', { at: SECRET });
        const shown = await turn.callTool('show', {});
        yield JSON.stringify([found, shown]);
        yield { type: 'tool_use', callId: 'c', name: 'own', input: { text: SECRET } } as const;
        yield { type: 'tool_result', callId: 'c', name: 'own', output: SECRET, isError: false } as const;
      },
    });
    const told = await answered(app);
    expect(inputs).to.deep.equal([{ at: '[key]' }]);
    expect(textOf(told.message)).to.include('{"found":"[key]"}').and.include('"text":"[key]"');
    expect(JSON.stringify([told.events, await told.session.history()])).to.not.include(SECRET);
    expect(told.message.content.filter(({ type }) => type === 'tool_result').length).to.equal(3);
  });

  it('calls no tool with an input that ends the run, nor before what was said earlier is checked', async () => {
    let called = 0;
    const act = tool({ handler: () => ++called });
    const check: GuardCheck = (text) => (text.includes('bad') ? { end: '' } : 'pass');
    const parts = ['text', 'tool-input'] as const;
    const guard = { check, parts };
    const byInput = defineApp({
      ...{ guard, tools: { act } },
      run: async (turn) => void (await turn.callTool('act', 'bad')),
    });
    const byText = defineApp({
      ...{ guard, tools: { act } },
      async *run(turn) {
        yield 'bad';
        await turn.callTool('act', 'well');
      },
    });
    for (const app of [byInput, byText]) {
      const { stopReason, message } = await answered(app);
      expect([stopReason, message.content]).to.deep.equal(['moderated', []]);
    }
    expect(called).to.equal(0);
  });

  it('checks data, titles, annotations, custom events, channels and questions as one kind', async () => {
    const app = defineApp({
      guard: { check: redact, parts: ['text', 'data'] },
      async *run(turn) {
        yield 'before ';
        turn.data('card', { text: SECRET }, { id: 'card' });
        turn.data('card', { text: `again ${SECRET}` }, { id: 'card' });
        turn.title(`About ${SECRET}`);
        turn.annotate({ note: SECRET });
        turn.emit('found', { what: SECRET });
        turn.publish('news', SECRET);
        yield 'after';
      },
    });
    const told = await answered(app);
    expect(JSON.stringify([told.events, await told.session.history()])).to.not.include(SECRET);
    expect(told.message.metadata).to.deep.equal({ note: '[key]' });
    expect(told.message.content).to.deep.equal([
      { type: 'text', text: 'before ' },
      { type: 'data', id: 'card', name: 'card', value: { text: 'again [key]' } },
      { type: 'text', text: 'after' },
    ]);
    const state = told.events.filter(({ type }) => /custom|channel|session_updated/.test(type));
    expect(state.length).to.equal(3);
  });

  it('lets no text slip through beside an event that does not end its block', async () => {
    const app = defineApp({
      guard: { check: redact, window: { chars: 1, overlap: SECRET.length } },
      async *run(turn) {
        for (const character of SECRET) {
          yield character;
          turn.emit('typed', {});
          await delay(1);
        }
      },
    });
    const told = await answered(app);
    expect(textOf(told.message)).to.equal('[key]');
    expect(told.events.filter(({ type }) => type === 'custom').length).to.equal(SECRET.length);
  });

  it('refuses messages of people with a code, or takes them in other words', async () => {
    const check: GuardCheck = (text) =>
      text.includes('bad') ? { end: 'Say it kindly' } : redact(text, undefined as never);
    const app = defineApp({
      guard: { check, parts: ['message'] },
      run: (turn) => turn.text,
    });
    const { gateway } = await startGateway({ app, store: memoryStore() });
    const session = gateway.session('main');
    const refused = await refusalOf(() => session.send('something bad').accepted);
    expect(refused).to.include({ code: 'MODERATED', status: 422, message: 'Say it kindly' });
    const run = await session.send(`mine is ${SECRET}`);
    expect(textOf((await run.result).message)).to.equal('mine is [key]');
    const events = await eventsOf(session);
    expect(JSON.stringify(events)).to.not.include(SECRET).and.not.include('bad');
  });

  it('stands before all apps of a gateway, and the guard of an app behind that one', async () => {
    const lower: GuardCheck = (text) => ({ replace: text.toLowerCase() });
    const app = saying([`The Key is ${SECRET}`], { check: lower });
    const { message } = await answered(app, { check: redact });
    expect(textOf(message)).to.equal('the key is [key]');
  });

  it('stands before a child that its parent runs with a function', async () => {
    const app = defineApp({
      guard: { check: redact },
      async run(turn) {
        const child = turn.spawn('inner', { message: 'go', run: () => `child says ${SECRET}` });
        return (await child.result).text;
      },
    });
    const told = await answered(app);
    expect(JSON.stringify([told.events, await told.session.history()])).to.not.include(SECRET);
    expect(textOf(told.message)).to.equal('child says [key]');
  });

  it('holds nobody else up: a check of 50 ms on 100 streams', async function () {
    this.timeout(20_000);
    const app = defineApp({
      async *run(turn) {
        for (let i = 0; i < 5; i++) yield `${turn.text} ${i} `;
      },
    });
    const guarded = { ...app, guard: { check: () => delay(50).then(() => undefined), window: { chars: 1 } } };
    const { gateway } = await startGateway({
      apps: { guarded, free: app },
      defaultApp: 'free',
      store: memoryStore(),
      limits: { sendsPerSecond: Number.POSITIVE_INFINITY },
    });
    let ended = 0;
    const slow = Array.from({ length: 100 }, async (_, at) => {
      const run = await gateway.session(`guarded:${at}`).send('hello');
      await run.result;
      ended += 1;
    });
    const quick = await gateway.session('free').send('hello');
    await quick.result;
    expect(ended).to.equal(0);
    const since = performance.now();
    await Promise.all(slow);
    // One after the other, they would take over five seconds.
    expect(performance.now() - since).to.be.lessThan(4000);
  });

  it('costs an app nothing that nobody guards, nor one whose people alone are guarded', async () => {
    const app = (guard?: Guard) =>
      saying(
        Array.from({ length: 2000 }, (_, at) => `${at} `),
        guard,
      );
    const promisesOf = async (guard?: Guard): Promise<number> => {
      const { gateway } = await startGateway({ app: app(guard), store: memoryStore() });
      const session = gateway.session('main');
      await (await session.send('once')).result;
      let made = 0;
      const hook = createHook({
        init: (_, type) => {
          if (type === 'PROMISE' || type === 'Timeout') made += 1;
        },
      });
      hook.enable();
      await (await session.send('again')).result;
      hook.disable();
      return made;
    };
    const free = await promisesOf();
    const ofPeople = await promisesOf({ check: () => undefined, parts: ['message'] });
    // One promise or timer a piece would be 2,000.
    expect(ofPeople - free).to.be.lessThan(1000);
    const guarded = await promisesOf({ check: () => undefined });
    expect(guarded - free, 'is what it is measured by').to.be.greaterThan(2000);
  });

  it('refuses a guard that would not check what it seems to', () => {
    const refused = (guard: unknown): string => {
      try {
        defineApp({ run: () => '', guard: guard as Guard });
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    expect(refused({})).to.equal('guard.check: must be a function, or a list of functions');
    expect(refused({ check: [] })).to.match(/^guard.check/);
    expect(refused({ check: redact, part: ['text'] })).to.match(/^guard.part: unknown field/);
    expect(refused({ check: redact, parts: ['txt'] })).to.match(/^guard.parts/);
    expect(refused({ check: redact, window: { chars: 0 } })).to.equal(
      'guard.window.chars: must be a whole number from 1 to 16384',
    );
    expect(refused({ check: redact, window: { characters: 5 } })).to.match(
      /^guard.window.characters: unknown/,
    );
    expect(refused({ check: redact, onFailure: 'ignore' })).to.match(/^guard.onFailure/);
    expect(refused({ check: redact, timeoutMs: 0 })).to.match(/^guard.timeoutMs/);
    expect(refused({ check: redact })).to.equal('');
  });
});
