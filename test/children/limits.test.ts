import { expect } from 'chai';
import { type Application, type Child, defineApp, isGatewayError, type Turn } from '../../server/index.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { runsIn } from './faults.js';
import { childrenOf, endOf, eventsUntil, foldOf, type ReadEvent, sendTo } from './tree.js';

const DEPTH = 4;

const app = (run: (turn: Turn) => unknown, resumable = false): Application =>
  defineApp({ resumable, run: run as never });

const start = (apps: Readonly<Record<string, Application>>, limits: object = {}) =>
  startGateway({ apps, defaultApp: 'main', limits });

/** The error of a call, as an app sees it. */
function refusalOf(call: () => unknown): string {
  try {
    call();
    return 'none';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** All events until so many runs have ended. */
function eventsOfRuns(url: string, count: number): Promise<readonly ReadEvent[]> {
  let ended = 0;
  return eventsUntil(url, ({ event }) => event === 'message_end' && ++ended >= count);
}

describe('limits of child runs', function () {
  this.timeout(8000);

  for (const detached of [false, true])
    it(`end an app that begins itself${detached ? ', detached,' : ''} at their depth`, async () => {
      const refusals: string[] = [];
      const { url } = await start({
        main: app(async (turn) => {
          const depth = Number(turn.text);
          let child: Child | undefined;
          refusals.push(
            refusalOf(() => {
              child = turn.spawn('main', { message: String(depth + 1), detached });
            }),
          );
          if (!detached) await child?.result;
        }),
      });
      await sendTo(url, '0');
      const events = await eventsOfRuns(url, 1 + DEPTH);
      const { runs, wrong } = runsIn(events);
      expect(wrong).to.deep.equal([]);
      expect([...runs.values()].map(({ name }) => name)).to.deep.equal(['0', '1', '2', '3', '4']);
      expect(refusals.filter((refusal) => refusal !== 'none')).to.deep.equal(['QUOTA_EXCEEDED']);
      expect(foldOf(events).lanes).to.equal(undefined);
    });

  it('end a chain of detached runs at the same depth when each process begins one of it', async () => {
    const refusals: string[] = [];
    let stop = gate();
    const apps = {
      main: app(async (turn) => {
        const begun = refusalOf(() => turn.spawn('main', { message: 'x', id: 'next', detached: true }));
        if (begun === 'none') return;
        refusals.push(begun);
        stop.open();
        await new Promise(() => {});
      }, true),
    };
    const path = newDatabase();
    const first = await startDurable(path, { apps, defaultApp: 'main' });
    await sendTo(first.url, 'go');
    await stop.passed;
    stop = gate();
    // The last one runs again, and is as deep as it was.
    const second = await startDurable(crashed(path), { apps, defaultApp: 'main' });
    await stop.passed;
    expect(refusals).to.deep.equal(Array(2).fill('QUOTA_EXCEEDED'));
    const events = await eventsOfRuns(second.url, DEPTH);
    expect(events.filter(({ type }) => type === 'run_spawned')).to.have.length(DEPTH);
  });

  it('leave no more than 16 children under way, and make room for each that ends', async () => {
    const held = gate();
    const refusals: string[] = [];
    const { url } = await start({
      main: app(async (turn) => {
        const begun: Child[] = [];
        for (let i = 0; i < 17; i++)
          refusals.push(
            refusalOf(() => begun.push(turn.spawn('helper', { message: String(i), id: String(i) }))),
          );
        begun[0]!.abort();
        await begun[0]!.result;
        const more = (id: string): string => refusalOf(() => turn.spawn('helper', { message: id, id }));
        refusals.push(more('17'), more('18'));
        held.open();
        await Promise.all(begun.map(({ result }) => result));
      }),
      helper: app(async (turn) => {
        await held.passed;
        return turn.text;
      }),
    });
    const state = foldOf(await eventsUntil(url, endOf(await sendTo(url, 'go'))));
    const full = 'QUOTA_EXCEEDED';
    expect(refusals).to.deep.equal([...Array(16).fill('none'), full, 'none', full]);
    expect(Object.keys(childrenOf(state))).to.have.length(17);
  });

  it('count the answers of children together, and the piece that is too much fails its child alone', async () => {
    const { url } = await start(
      {
        main: app(async function* (turn) {
          for (const id of ['a', 'b', 'c'])
            yield await turn.spawn('helper', { message: 'x', id }).result.then(
              () => 'whole ',
              ({ code }) => `${code} `,
            );
        }),
        helper: app(async function* () {
          for (let i = 0; i < 4; i++) yield 'x'.repeat(100);
        }),
      },
      // Their messages count too, 130 characters each.
      { answerSize: 1300 },
    );
    const events = await eventsUntil(url, endOf(await sendTo(url, 'go')));
    const [, answer] = foldOf(events).messages;
    expect(answer!.content).to.deep.equal([{ type: 'text', text: 'whole whole PAYLOAD_TOO_LARGE ' }]);
    expect(JSON.stringify(answer!.children!.map(({ message }) => message.content)).length).to.be.below(1200);
  });

  for (const detached of [false, true])
    it(`count what children are asked, so that no run begins ever more${detached ? ' that are detached' : ''}`, async () => {
      let begun = 0;
      const refused = gate<string>();
      const { url } = await start(
        {
          main: app(async (turn) => {
            const silent = { message: 'x'.repeat(50), detached, run: () => '' };
            try {
              for (; begun < 100; begun++) await turn.spawn('silent', silent).result;
            } catch (error) {
              refused.open((error as { code: string }).code);
            }
          }),
        },
        { answerSize: 2000 },
      );
      const state = foldOf(await eventsUntil(url, endOf(await sendTo(url, 'go'))));
      expect(begun).to.be.above(3).and.below(20);
      expect(await refused.passed).to.equal('PAYLOAD_TOO_LARGE');
      expect(state.messages.at(-1)!.children).to.have.length(begun);
    });

  it('count what children had said before a restart', async () => {
    const path = newDatabase();
    let stop = gate();
    const apps = {
      main: app(async function* (turn) {
        if (!turn.resumed) yield 'y'.repeat(200);
        const child = turn.spawn('helper', { message: 'x', id: 'h' });
        yield await child.result.then(
          () => 'whole',
          (error) => (isGatewayError(error) ? error.code : `${error}`),
        );
      }, true),
      helper: app(async function* (turn) {
        // Another text than before, which is said behind it.
        yield (turn.resumed ? 'z' : 'x').repeat(turn.resumed ? 300 : 600);
        if (turn.resumed) return;
        await new Promise(setImmediate);
        stop.open();
        await new Promise(() => {});
      }, true),
    };
    const config = { apps, defaultApp: 'main', limits: { answerSize: 1000 } };
    const first = await startDurable(path, config);
    const runId = await sendTo(first.url, 'go');
    await stop.passed;
    await eventsUntil(first.url, ({ event }) => event === 'content_delta');
    stop = gate();
    const second = await startDurable(crashed(path), config);
    const state = foldOf(await eventsUntil(second.url, endOf(runId)));
    expect(childrenOf(state).h).to.match(/^error: x{600}$/);
    expect(state.messages.at(-1)!.stopReason).to.equal('end');
  });

  it('are for one child of an id: another message or app of the same id is refused at once', async () => {
    const refusals: string[] = [];
    const { url } = await start({
      main: app(async (turn) => {
        const first = turn.spawn('helper', { message: 'x', id: 'h' });
        expect(turn.spawn('helper', { message: 'x', id: 'h' })).to.equal(first);
        refusals.push(
          refusalOf(() => turn.spawn('helper', { message: 'y', id: 'h' })),
          refusalOf(() => turn.spawn('other', { message: 'x', id: 'h' })),
        );
        await first.result;
        refusals.push(refusalOf(() => turn.spawn('other', { message: 'x', id: 'h' })));
      }),
      other: app(async () => 'helped'),
      helper: app(async () => 'helped'),
    });
    const events = await eventsUntil(url, endOf(await sendTo(url, 'go')));
    expect(refusals).to.deep.equal(Array(3).fill('STEP_MISMATCH'));
    expect(events.filter(({ type }) => type === 'run_spawned')).to.have.length(1);
  });
});
