import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type Turn } from '../../server/index.js';
import { Moderation } from '../../server/log/moderation.js';
import { cases } from '../support/fuzz.js';
import { gate } from '../support/gate.js';
import { FAST, startGateway, type TestGateway, TOKEN } from '../support/gateway.js';
import { gatherMeanwhile, pretendLoad } from '../support/pretend-load.js';
import { openStream, postStream, type RawEvent } from '../support/sse-client.js';
import { until } from '../support/until.js';

type Deed = 'text' | 'reasoning' | 'data' | 'progress' | 'custom' | 'turn' | 'pause';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

/** Does what its message says, and numbers all that it says. */
const app = defineApp({
  async *run(turn: Turn) {
    let n = 0;
    for (const deed of JSON.parse(turn.text) as Deed[]) {
      n += 1;
      if (deed === 'text') yield `t${n} `;
      else if (deed === 'reasoning') yield { type: 'reasoning_delta', delta: `r${n} ` } as const;
      else if (deed === 'data') turn.data('place', n);
      else if (deed === 'custom') turn.emit('mark', { n });
      else if (deed === 'progress') yield { type: 'tool_progress', callId: 'c', value: n } as const;
      else await (deed === 'turn' ? nextTurn() : pause());
    }
  },
});

/** Longer than any test takes. */
const LONG_MS = 1_000_000;

/** A gateway whose pieces of answers wait for so long. */
function gatheringGateway(ms: number): Promise<TestGateway> {
  gatherMeanwhile(ms);
  return startGateway({ app, limits: { ...FAST, gatherMs: 1000 } });
}

async function answer({ url }: TestGateway, sessionId: string, deeds: readonly Deed[]): Promise<RawEvent[]> {
  const stream = await postStream(`${url}/send`, { sessionId, message: JSON.stringify(deeds) });
  await stream.ended;
  return stream.events;
}

const isPiece = ({ event }: RawEvent): boolean => event === 'content_delta' || event === 'reasoning_delta';

/** What was said, in order; pieces of one block that follow each other are one. */
function said(events: readonly RawEvent[]): unknown[] {
  const all: { event: string; index?: number; value: unknown }[] = [];
  for (const { event, data } of events) {
    const last = all.at(-1);
    if (event === 'connected' || event === 'end') continue;
    if (event === 'message_end') all.push({ event, value: data.message.content.map(plain) });
    else if (event !== 'content_delta' && event !== 'reasoning_delta')
      all.push({ event, value: data.value ?? data.payload ?? null });
    else if (last?.event === event && last.index === data.index) last.value = `${last.value}${data.delta}`;
    else all.push({ event, index: data.index, value: data.delta });
  }
  return all;
}

const plain = ({ type, text, value }: { type: string; text?: string; value?: unknown }) => ({
  type,
  text,
  value,
});

describe('pieces of answers', () => {
  it('wait for nothing while the process has room; those of one step of the event loop are one event', async () => {
    pretendLoad({ cpu: 0.7, idle: 0.3 });
    const started = await startGateway({ app, limits: { gatherMs: 30 } });
    const events = await answer(started, 's', ['text', 'turn', 'text', 'text', 'pause', 'text']);
    expect(events.filter(isPiece).map(({ data }) => data.delta)).to.deep.equal(['t1 ', 't3 t4 ', 't6 ']);
    expect(started.gateway.stats().load.gatherMs).to.equal(0);
  });

  it('are each an event where nothing is gathered', async () => {
    const started = await startGateway({ app, limits: { gatherMs: 0 } });
    const events = await answer(started, 's', ['text', 'turn', 'text', 'text']);
    expect(events.filter(isPiece).map(({ data }) => data.delta)).to.deep.equal(['t1 ', 't3 ', 't4 ']);
  });

  it('are gathered while it is full, and those of one block are one event; the first of a block is not kept', async () => {
    const started = await gatheringGateway(LONG_MS);
    const events = await answer(started, 's', [
      ...(['text', 'turn', 'text', 'pause', 'text'] as const),
      ...(['reasoning', 'turn', 'reasoning', 'pause', 'reasoning'] as const),
    ]);
    expect(events.filter(isPiece).map(({ data: { delta, index } }) => [delta, index])).to.deep.equal([
      ['t1 ', 0],
      ['t3 t5 ', 0],
      ['r6 ', 1],
      ['r8 r10 ', 1],
    ]);
  });

  it('leave with anything else that is said, in order, and the first, questions and ends wait for nothing', async () => {
    gatherMeanwhile(LONG_MS);
    const [goOn, finish] = [gate(), gate()];
    const standing = defineApp({
      async *run(turn: Turn) {
        yield 'first ';
        await goOn.passed;
        yield 'second ';
        await nextTurn();
        turn.emit('mark', {});
        yield 'third ';
        await turn.ask({ name: 'which' });
        yield 'fourth ';
        await finish.passed;
        yield 'last';
      },
    });
    const { url, gateway } = await startGateway({ app: standing, limits: { gatherMs: 1000 } });
    const stream = await postStream(`${url}/send`, { sessionId: 's', message: 'go' });
    const ahead = (name: string): unknown =>
      stream.events[stream.events.findIndex(({ event }) => event === name) - 1]!.data.delta;
    await stream.until(isPiece);
    expect(stream.events.at(-1)!.data.delta).to.equal('first ');
    goOn.open();
    await stream.until(({ event }) => event === 'custom');
    expect(ahead('custom')).to.equal('second ');
    const question = await stream.until(({ event }) => event === 'input_required');
    expect(ahead('input_required')).to.equal('third ');
    await gateway.session('s').respond(question.data.callId, { output: 'this' });
    finish.open();
    await stream.ended;
    expect(said(stream.events).slice(-2)).to.deep.equal([
      { event: 'content_delta', index: 0, value: 'fourth last' },
      {
        event: 'message_end',
        value: [{ type: 'text', text: 'first second third fourth last', value: undefined }],
      },
    ]);
  });

  it('wait longer step by step while the process is full, and less again when it has room', async () => {
    pretendLoad({ cpu: 1.5, idle: 0 });
    const { gateway } = await startGateway({ app, limits: { gatherMs: 20 } });
    await until(() => gateway.stats().load.gatherMs === 20);
    pretendLoad({ cpu: 0.2, idle: 0.8 });
    await until(() => gateway.stats().load.gatherMs === 0);
  });

  it('say the same gathered or not, and can be resumed at each of their cursors', async () => {
    const busy = await gatheringGateway(20);
    const never = await startGateway({ app, limits: { ...FAST, gatherMs: 0 } });
    let n = 0;
    const deed = fc.constantFrom<Deed>(
      'text',
      'text',
      'text',
      'reasoning',
      'data',
      'progress',
      'custom',
      'turn',
      'pause',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 30 }), async (deeds) => {
        n += 1;
        const gathered = await answer(busy, `s${n}`, deeds);
        expect(said(gathered)).to.deep.equal(said(await answer(never, `s${n}`, deeds)));
        const logged = gathered.filter(({ id }) => id !== undefined);
        const at = logged[n % logged.length]!;
        const headers = { authorization: `Bearer ${TOKEN}`, 'Last-Event-ID': at.id! };
        const resumed = await openStream(`${busy.url}/events?sessionId=s${n}`, { headers });
        const last = logged.at(-1)!;
        if (at === last) await resumed.until(({ event }) => event === 'connected');
        else await resumed.until(({ id }) => id === last.id);
        const rest = resumed.logged;
        expect(rest.map(({ id }) => id)).to.deep.equal(
          logged.slice(logged.indexOf(at) + 1).map(({ id }) => id),
        );
      }),
      { numRuns: cases(20) },
    );
  });

  it('are flushed in shares of a turn, and not at all once something else has taken them along', async () => {
    gatherMeanwhile(8);
    const moderation = new Moderation(8);
    const turns: number[] = [];
    let turn = 0;
    const flushed = gate();
    const count = (): void => {
      turn += 1;
      if (turns.length < 150) setImmediate(count);
    };
    for (let i = 0; i < 200; i++) {
      const due = moderation.within(() => {
        turns.push(turn);
        if (turns.length === 150) flushed.open();
      })!;
      if (i % 4 === 0) due.flush = null;
    }
    setImmediate(count);
    await flushed.passed;
    const most = Math.max(...turns.map((each) => turns.filter((other) => other === each).length));
    expect(most).to.be.at.most(128);
  });
});
