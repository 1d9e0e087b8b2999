import { expect } from 'chai';
import { type Application, defineApp, type Turn, tool } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { ContentBlock } from '../../shared/messages.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';

/** An app in two processes: the first one stands where `wait` is called, and is gone then. */
type Scene = (turn: Turn, wait: () => Promise<void>, at: number) => AsyncGenerator<string | object, void>;

interface Resumed {
  readonly content: readonly ContentBlock[];
  /** What the second process has logged. */
  readonly events: readonly GatewayEvent[];
  /** Calls of tools, in both. */
  readonly called: readonly unknown[];
}

/** Has an app begin, kills its process, and has another one end it. @param guarded Whether a guard holds what it says */
async function resumed(scene: Scene, { guarded = false } = {}): Promise<Resumed> {
  const path = newDatabase();
  const stands = gate();
  const called: unknown[] = [];
  const appOf = (wait: () => Promise<void>, at: number): Application =>
    defineApp({
      resumable: true,
      ...(guarded && { guard: { check: () => undefined, window: { chars: 2 } } }),
      tools: {
        look: tool({
          handler: (input: unknown) => {
            called.push(input);
            return `saw ${JSON.stringify(input)}`;
          },
        }),
      },
      run: (turn) => scene(turn, wait, at) as never,
    });
  const first = await startDurable(path, {
    app: appOf(() => {
      stands.open();
      return new Promise(() => {});
    }, 1),
  });
  const session = first.gateway.session('main');
  const { runId } = await session.send('go').accepted;
  await stands.passed;
  // A reader has what is in the file.
  let before = 0;
  for await (const event of session.events({ from: 'earliest' })) {
    before += 1;
    if (event.type === 'custom') break;
  }
  const { gateway } = await startDurable(crashed(path), { app: appOf(async () => {}, 2) });
  const { message, stopReason } = await gateway.session('main').run(runId).result;
  expect(stopReason).to.equal('end');
  const all: GatewayEvent[] = [];
  for await (const event of gateway.session('main').events({ from: 'earliest' })) {
    all.push(event);
    if (event.type === 'message_end') break;
  }
  return { content: message.content, events: all.slice(before), called };
}

/** Text that is joined, and other blocks by what they are. */
const shown = (content: readonly ContentBlock[]): string[] => {
  const told: string[] = [];
  let isText = false;
  for (const block of content) {
    if (block.type === 'text' && isText) told[told.length - 1] += block.text;
    else if (block.type === 'text' || block.type === 'reasoning') told.push(block.text);
    else if (block.type === 'data') told.push(`data ${block.id} ${block.value}`);
    else
      told.push(
        `${block.type} ${'callId' in block ? JSON.stringify('input' in block ? block.input : block.output) : ''}`,
      );
    isText = block.type === 'text';
  }
  return told;
};

const replaced = (events: readonly GatewayEvent[]): number =>
  events.filter(({ type }) => type === 'message_replaced').length;

const said = (events: readonly GatewayEvent[]): string =>
  events.map((event) => (event.type === 'content_delta' ? event.delta : '')).join('');

/** Says that all before it is in the log. */
const stand = async (turn: Turn, wait: () => Promise<void>): Promise<void> => {
  turn.emit('stands', 1);
  await wait();
};

describe('a run that another process takes up after it took something back', () => {
  for (const guarded of [false, true]) {
    const behind = guarded ? ', behind a guard' : '';

    it(`does not take it back again, and keeps what came after${behind}`, async () => {
      const { content, events, called } = await resumed(
        async function* (turn, wait) {
          yield 'Let me see. ';
          const mark = turn.mark();
          yield 'It is Stockh';
          await turn.callTool('look', { at: 'Sweden' });
          turn.data('card', 1, { id: 'card' });
          yield { type: 'reasoning_delta', delta: 'no' };
          await new Promise(setImmediate);
          turn.retract(mark);
          yield 'It is ';
          await turn.callTool('look', { at: 'Norway' });
          yield 'Os';
          await stand(turn, wait);
          yield 'lo.';
        },
        { guarded },
      );
      expect(shown(content)).to.deep.equal([
        ...['Let me see. It is ', 'tool_use {"at":"Norway"}'],
        ...['tool_result "saw {\\"at\\":\\"Norway\\"}"', 'Oslo.'],
      ]);
      expect(called).to.deep.equal([{ at: 'Sweden' }, { at: 'Norway' }]);
      expect(replaced(events)).to.equal(0);
      // The first process dropped what its guard held.
      expect(said(events)).to.equal(guarded ? 'Oslo.' : 'lo.');
    });

    it(`does not take any of several back again${behind}`, async () => {
      const { content, events, called } = await resumed(
        async function* (turn, wait) {
          const start = turn.mark();
          yield { type: 'reasoning_delta', delta: 'first' };
          yield 'first try';
          turn.retract(start);
          yield 'Kept. ';
          await turn.callTool('look', { n: 1 });
          const mark = turn.mark();
          await turn.callTool('look', { n: 1 });
          yield 'second';
          turn.retract(mark);
          yield 'third';
          turn.retract(mark);
          await stand(turn, wait);
          await turn.callTool('look', { n: 1 });
          yield 'Done.';
        },
        { guarded },
      );
      const call = ['tool_use {"n":1}', 'tool_result "saw {\\"n\\":1}"'];
      expect(shown(content)).to.deep.equal(['Kept. ', ...call, ...call, 'Done.']);
      expect(called.length).to.equal(3);
      expect(replaced(events)).to.equal(0);
      expect(said(events)).to.equal('Done.');
    });
  }

  it('takes back what is left of a try that it had not taken back yet, and what a call there did', async () => {
    const { content, events, called } = await resumed(async function* (turn, wait) {
      yield 'Kept. ';
      await turn.callTool('look', { n: 1 });
      const mark = turn.mark();
      yield 'wrong';
      await stand(turn, wait);
      turn.retract(mark);
      yield 'right';
    });
    expect(shown(content)).to.deep.equal([
      ...['Kept. ', 'tool_use {"n":1}', 'tool_result "saw {\\"n\\":1}"', 'right'],
    ]);
    expect(called).to.deep.equal([{ n: 1 }]);
    expect(replaced(events)).to.equal(1);
  });

  it('is a child as well', async () => {
    const { content, events, called } = await resumed(async function* (turn, wait) {
      const inner = turn.spawn('inner', {
        message: 'go',
        async *run(child) {
          const mark = child.mark();
          yield 'half';
          child.retract(mark);
          yield 'who';
          await stand(child, wait);
          yield 'le';
        },
      });
      yield (await inner.result).text;
    });
    expect(shown(content)).to.deep.equal(['whole']);
    expect(called).to.deep.equal([]);
    expect(replaced(events)).to.equal(0);
    expect(said(events)).to.equal('le');
  });

  it('says what the app says now, if that is something else', async () => {
    const { content, called } = await resumed(async function* (turn, wait, at) {
      const mark = turn.mark();
      yield at === 1 ? 'The first' : 'Another';
      turn.retract(mark);
      yield 'It is ';
      await turn.callTool('look', {});
      await stand(turn, wait);
      yield 'Oslo.';
    });
    expect(shown(content)).to.deep.equal(['It is ', 'tool_use {}', 'tool_result "saw {}"', 'Oslo.']);
    expect(called.length).to.equal(1);
  });

  it('has all that the app says, if it takes nothing back now', async () => {
    const { content } = await resumed(async function* (turn, wait, at) {
      const mark = turn.mark();
      yield 'The first';
      if (at === 2) return;
      turn.retract(mark);
      yield 'The second';
      await stand(turn, wait);
    });
    expect(shown(content).join('')).to.match(/The first$/);
  });
});
