import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp, type Turn } from '../../server/index.js';
import { Moderation } from '../../server/log/flushes.js';
import { cases } from '../support/fuzz.js';
import { gate } from '../support/gate.js';
import { FAST, startGateway, type TestGateway, TOKEN } from '../support/gateway.js';
import { pretendLoad } from '../support/pretend-load.js';
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

/** A gateway whose pieces of answers wait as long as they may. */
async function busyGateway(gatherMs: number): Promise<TestGateway> {
  pretendLoad(1);
  const started = await startGateway({ app, limits: { ...FAST, gatherMs } });
  await until(() => started.gateway.stats().load.gatherMs === gatherMs);
  return started;
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
  it('wait for nothing while the event loop has room, and stay what they were', async () => {
    pretendLoad(0.5);
    const started = await startGateway({ app });
    const events = await answer(started, 's', ['text', 'turn', 'text', 'text', 'pause', 'text']);
    expect(events.filter(isPiece).map(({ data }) => data.delta)).to.deep.equal(['t1 ', 't3 ', 't4 ', 't6 ']);
    expect(started.gateway.stats().load.gatherMs).to.equal(0);
  });

  it('are gathered while it is busy, and those of one block are one event', async () => {
    const started = await busyGateway(1000);
    const events = await answer(started, 's', [
      'text',
      'turn',
      'text',
      'pause',
      'reasoning',
      'turn',
      'reasoning',
    ]);
    expect(events.filter(isPiece).map(({ data: { delta, index } }) => [delta, index])).to.deep.equal([
      ['t1 t3 ', 0],
      ['r5 r7 ', 1],
    ]);
  });

  it('leave with anything else that is said, in order', async () => {
    pretendLoad(1);
    const finish = gate();
    const standing = defineApp({
      async *run(turn: Turn) {
        yield 'before ';
        await nextTurn();
        turn.emit('mark', {});
        await finish.passed;
        yield 'after';
      },
    });
    const other = await startGateway({ app: standing, limits: { gatherMs: 1000 } });
    await until(() => other.gateway.stats().load.gatherMs === 1000);
    const stream = await postStream(`${other.url}/send`, { sessionId: 's', message: 'go' });
    await stream.until(({ event }) => event === 'custom');
    expect(stream.events.map(({ event }) => event).slice(-2)).to.deep.equal(['content_delta', 'custom']);
    finish.open();
    await stream.ended;
    expect(said(stream.events).slice(-2)).to.deep.equal([
      { event: 'content_delta', index: 0, value: 'after' },
      { event: 'message_end', value: [{ type: 'text', text: 'before after', value: undefined }] },
    ]);
  });

  it('wait less again, step by step, when there is room', async () => {
    const { gateway } = await busyGateway(40);
    pretendLoad(0.65);
    expect(gateway.stats().load.gatherMs).to.equal(40);
    pretendLoad(0.1);
    await until(() => gateway.stats().load.gatherMs === 0);
  });

  it('say the same gathered or not, and can be resumed at each of their cursors', async () => {
    const busy = await busyGateway(20);
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
    pretendLoad(1);
    const moderation = new Moderation(8);
    await until(() => moderation.waitMs === 8);
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
