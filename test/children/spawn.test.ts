import { expect } from 'chai';
import { type Application, defineApp, type Turn } from '../../server/index.js';
import { initialState } from '../../shared/fold.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { FAST, get, post, startGateway } from '../support/gateway.js';
import { childrenOf, endOf, eventsUntil, foldOf, type ReadEvent, sendTo } from './tree.js';

const never = (): Promise<never> => new Promise(() => {});
const app = (run: (turn: Turn) => unknown, resumable = false): Application =>
  defineApp({ resumable, run: run as never });

/** Starts a gateway whose app and helpers are the test's. */
const start = (apps: Readonly<Record<string, Application>>, more: object = {}) =>
  startGateway({ apps, defaultApp: 'main', ...more });

const shapeOf = (events: readonly ReadEvent[], names: Readonly<Record<string, string>>): readonly string[] =>
  events
    .filter(({ type }) => /^(run_|message_(start|end))/.test(type))
    .map(({ type, runId = '', ...data }) => {
      const { stopReason } = data as { stopReason?: string };
      return [type, names[runId] ?? runId, stopReason].filter(Boolean).join(' ');
    });

/** Names of runs, by what was asked of them. */
const namesOf = (events: readonly ReadEvent[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    events.flatMap((event) => {
      if (event.type === 'message_accepted') return [[event.runId, 'main']];
      return event.type === 'run_spawned' ? [[event.runId, event.name]] : [];
    }),
  );

describe('turn.spawn', function () {
  this.timeout(8000);
  it('begins a child, whose answer is part of the answer of its parent', async () => {
    const { url } = await start({
      main: app(async function* (turn) {
        const child = turn.spawn('helper', { message: 'it', id: 'r1' });
        let text = '';
        for await (const piece of child.text) text += piece;
        yield `${text} and ${(await child.result).text}`;
      }),
      helper: app(async function* (turn) {
        expect(turn.history).to.deep.equal([]);
        yield 'found ';
        yield turn.text;
      }),
    });
    const events = await eventsUntil(url, endOf(await sendTo(url, 'go')));
    const state = foldOf(events);
    expect(state.messages.map(({ content }) => content)).to.deep.equal([
      [{ type: 'text', text: 'go' }],
      [{ type: 'text', text: 'found it and found it' }],
    ]);
    expect(childrenOf(state)).to.deep.equal({ r1: 'end: found it' });
    expect(state.lanes).to.equal(undefined);
    expect(shapeOf(events, namesOf(events))).to.deep.equal([
      'message_start main',
      'run_spawned r1',
      'message_end r1 end',
      'message_end main end',
    ]);
    // The history and whoever comes later have the same.
    const { body } = await get(`${url}/history?sessionId=main`);
    expect(body.messages).to.deep.equal(state.messages);
  });

  it('gives the same state from any place of a log in which children are interleaved', async () => {
    const { url } = await start(
      {
        main: app(async function* (turn) {
          const children = ['a', 'b', 'c'].map((id) => turn.spawn('helper', { message: id, id }));
          yield 'waiting ';
          for (const { result } of children) yield (await result).text;
        }),
        helper: app(async function* (turn) {
          for (let i = 0; i < 5; i++) {
            yield `${turn.text}${i} `;
            await new Promise(setImmediate);
          }
        }),
      },
      { limits: FAST },
    );
    const events = await eventsUntil(url, endOf(await sendTo(url, 'go')));
    const whole = foldOf(events);
    expect(childrenOf(whole)).to.deep.equal({
      a: 'end: a0 a1 a2 a3 a4 ',
      b: 'end: b0 b1 b2 b3 b4 ',
      c: 'end: c0 c1 c2 c3 c4 ',
    });
    const lanes = new Set(events.flatMap((event) => (event.type === 'run_spawned' ? [event.lane] : [])));
    expect(lanes.size).to.equal(3);
    for (let at = 0; at < events.length - 1; at++) {
      const before = foldOf(events.slice(0, at));
      const cursor = events[at]!.cursor;
      const rest = await eventsUntil(
        url,
        ({ event, id }) => event === 'message_end' && id === events.at(-1)!.cursor,
        `lastEventId=${encodeURIComponent(cursor)}`,
      );
      expect(foldOf(rest, foldOf([events[at]!], before))).to.deep.equal(whole);
    }
  }).timeout(20_000);

  it('ends its children before it and in the same append, whatever ends it; detached ones go on', async () => {
    const { url } = await start({
      main: app(async (turn) => {
        turn.spawn('helper', { message: 'x', id: 'own' });
        turn.spawn('helper', { message: 'x', id: 'other', detached: true });
        await turn.spawn('quick', { message: 'y', id: 'done' }).result;
      }),
      helper: app(async function* (turn) {
        yield 'begun';
        await turn.spawn('leaf', { message: 'z', id: 'leaf' }).result;
      }),
      leaf: app(never),
      quick: app(async () => 'quick'),
    });
    const runId = await sendTo(url, 'go');
    const events = await eventsUntil(url, endOf(runId));
    const ends = shapeOf(events, namesOf(events)).filter((shape) => shape.startsWith('message_end'));
    expect(ends.slice(0, 1)).to.deep.equal(['message_end done end']);
    expect(ends.at(-1)).to.equal('message_end main end');
    expect(ends.indexOf('message_end own aborted')).to.be.above(0);
    const state = foldOf(events);
    expect(childrenOf(state)).to.include({ done: 'end: quick', own: 'aborted: begun' });
    expect(state.lanes!.map(({ name, stopReason }) => `${name} ${stopReason}`)).to.include('other undefined');
    const { body } = await get(`${url}/sessions`);
    expect(body.sessions[0].status).to.equal('running');
    // An abort finds it.
    const other = state.lanes!.find(({ name }) => name === 'other')!;
    await post(`${url}/abort`, { sessionId: 'main', runId: other.runId });
    const after = foldOf(await eventsUntil(url, endOf(other.runId)));
    expect(after.lanes).to.equal(undefined);
  });

  it('fails alone, and tells its parent', async () => {
    const { url } = await start({
      main: app(async function* (turn) {
        const failed = await turn.spawn('bad', { message: 'x' }).result.catch((error) => error);
        yield `${failed.code} ${failed.details.stopReason} `;
        const own = turn.spawn('inline', { message: 'y', run: () => 'mine' });
        yield (await own.result).text;
      }),
      bad: app(() => {
        throw new Error('no');
      }),
    });
    const state = foldOf(await eventsUntil(url, endOf(await sendTo(url, 'go'))));
    expect(state.messages.at(-1)!.content).to.deep.equal([{ type: 'text', text: 'INTERNAL error mine' }]);
    expect(state.messages.at(-1)!.children!.map(({ name, error }) => [name, error?.code])).to.deep.equal([
      ['bad:1', 'INTERNAL'],
      ['inline:1', undefined],
    ]);
  });

  it('is steered, and aborted, by its parent and by people', async () => {
    const asked = gate<string>();
    const { url } = await start({
      main: app(async function* (turn) {
        const child = turn.spawn('helper', { message: 'x', id: 'h' });
        await child.steer('from the parent');
        asked.open(child.runId);
        yield (await child.result).text;
        const stopped = turn.spawn('stuck', { message: 'x', id: 's' });
        stopped.abort('enough');
        yield (await stopped.result).stopReason;
        const late = await stopped.steer('late').catch(({ code }) => code);
        yield ` ${late}`;
      }),
      stuck: app(never),
      helper: app(async (turn) => {
        const said: string[] = [];
        while (said.length < 2) {
          for (const { content } of turn.steered()) said.push((content[0] as { text: string }).text);
          await new Promise(setImmediate);
        }
        return `${said.join(', ')} `;
      }),
    });
    const runId = await sendTo(url, 'go');
    const { status } = await post(`${url}/steer`, {
      sessionId: 'main',
      runId: await asked.passed,
      message: 'from a person',
    });
    expect(status).to.equal(200);
    const state = foldOf(await eventsUntil(url, endOf(runId)));
    expect(state.messages.at(-1)!.content).to.deep.equal([
      { type: 'text', text: 'from the parent, from a person aborted RUN_NOT_FOUND' },
    ]);
    expect((await post(`${url}/steer`, { sessionId: 'main', runId, message: 'x' })).status).to.equal(404);
  });

  it('has so many children at a time, so deep, and answers of all together so long', async () => {
    const codes: string[] = [];
    const { url } = await start(
      {
        main: app(async (turn) => {
          const attempt = (work: () => unknown): void => {
            try {
              work();
            } catch (error) {
              codes.push((error as { code: string }).code);
            }
          };
          const children = [1, 2].map(() => turn.spawn('main2', { message: 'x' }));
          attempt(() => turn.spawn('main2', { message: 'x' }));
          attempt(() => turn.spawn('nowhere', { message: 'x' }));
          attempt(() => turn.spawn('main2', { message: 'x', id: '' }));
          for (const child of children) await child.result;
          const long = await turn.spawn('long', { message: 'x' }).result.catch(({ code }) => code);
          codes.push(long);
        }),
        main2: app(async (turn) => {
          try {
            turn.spawn('main2', { message: 'x' });
          } catch (error) {
            codes.push(
              (error as { details: { option: string } }).details?.option ?? (error as { code: string }).code,
            );
          }
        }),
        long: app(async () => 'x'.repeat(2000)),
      },
      { limits: { childRuns: 2, childDepth: 1, answerSize: 1000 } },
    );
    await eventsUntil(url, endOf(await sendTo(url, 'go')));
    expect(codes.slice(0, 3)).to.deep.equal(['QUOTA_EXCEEDED', 'APP_NOT_FOUND', 'INVALID_PARAMS']);
    expect(codes.at(-1)).to.equal('PAYLOAD_TOO_LARGE');
    expect(codes).to.have.length(6);
  });

  it('asks people, who answer it in the session', async () => {
    const { url } = await start({
      main: app(async function* (turn) {
        yield (await turn.spawn('helper', { message: 'x', id: 'h' }).result).text;
      }),
      helper: app(async (turn) => `you said ${await turn.ask({ name: 'colour' })}`),
    });
    const runId = await sendTo(url, 'go');
    const events = await eventsUntil(url, ({ event }) => event === 'input_required');
    const [question] = foldOf(events).pending;
    expect(namesOf(events)[question!.runId!]).to.equal('h');
    await post(`${url}/tool-response`, { sessionId: 'main', callId: question!.callId, output: 'red' });
    const state = foldOf(await eventsUntil(url, endOf(runId)));
    expect(childrenOf(state)).to.deep.equal({ h: 'end: you said red' });
    expect(state.pending).to.deep.equal([]);
  });

  it('is joined after a crash, and never begun twice; one whose app is not resumable is lost', async () => {
    const begun: string[] = [];
    let held = 0;
    const stop = gate();
    const make = (hold: () => Promise<unknown>): Readonly<Record<string, Application>> => ({
      main: app(async function* (turn) {
        const done = turn.spawn('quick', { message: 'x', id: 'done' });
        const { text } = await done.result;
        if (!turn.resumed) yield `${text} `;
        const child = turn.spawn('helper', { message: 'x', id: 'h' });
        const frail = turn.spawn('frail', { message: 'x', id: 'f' });
        yield `${(await child.result).text} `;
        yield await frail.result.then(
          ({ text }) => text,
          ({ code, details }) => `${code} ${details.stopReason}`,
        );
      }, true),
      quick: app(async () => {
        begun.push('quick');
        return 'quick';
      }, true),
      helper: app(async (turn) => {
        begun.push(turn.resumed ? 'helper again' : 'helper');
        const made = await turn.step('one', () => {
          begun.push('step');
          return 'made';
        });
        await hold();
        return `${made} it`;
      }, true),
      frail: app(async () => {
        begun.push('frail');
        await hold();
        return 'frail';
      }),
    });
    const path = newDatabase();
    const first = await startDurable(path, {
      apps: make(() => {
        // Both are there, and the step is stored.
        if (++held === 2) stop.open();
        return never();
      }),
      defaultApp: 'main',
    });
    const runId = await sendTo(first.url, 'go');
    await stop.passed;
    await new Promise(setImmediate);
    const second = await startDurable(crashed(path), { apps: make(async () => {}), defaultApp: 'main' });
    const events = await eventsUntil(second.url, endOf(runId));
    const state = foldOf(events);
    expect(state.messages.at(-1)!.stopReason).to.equal('end');
    expect(state.messages.at(-1)!.content).to.deep.equal([
      { type: 'text', text: 'quick ' },
      { type: 'text', text: 'made it ABORTED lost' },
    ]);
    expect([...begun].sort()).to.deep.equal(['frail', 'helper', 'helper again', 'quick', 'step']);
    expect(events.filter(({ type }) => type === 'run_spawned')).to.have.length(3);
    expect(events.filter(({ type }) => type === 'message_end')).to.have.length(4);
  });

  it('is not the child that it was if its message or app is another after a crash', async () => {
    const path = newDatabase();
    const stop = gate();
    const make = (message: string): Readonly<Record<string, Application>> => ({
      main: app(async function* (turn) {
        const child = turn.spawn('helper', { message, id: 'h' });
        yield await child.result.then(({ text }) => text);
      }, true),
      helper: app(async () => {
        stop.open();
        return never();
      }, true),
    });
    const first = await startDurable(path, { apps: make('one'), defaultApp: 'main' });
    const runId = await sendTo(first.url, 'go');
    await stop.passed;
    const second = await startDurable(crashed(path), { apps: make('two'), defaultApp: 'main' });
    const state = foldOf(await eventsUntil(second.url, endOf(runId)));
    expect(state.messages.at(-1)!.error).to.include({ code: 'STEP_MISMATCH' });
    // What was left of it has ended with its parent.
    expect(state.messages.at(-1)!.children!.map(({ stopReason }) => stopReason)).to.deep.equal(['aborted']);
  });

  it('ends as lost with a parent that cannot go on after a crash', async () => {
    const path = newDatabase();
    const stop = gate();
    const apps = {
      main: app(async (turn) => {
        await turn.spawn('helper', { message: 'x', id: 'h' }).result;
      }),
      helper: app(async () => {
        stop.open();
        return never();
      }, true),
    };
    const first = await startDurable(path, { apps, defaultApp: 'main' });
    const runId = await sendTo(first.url, 'go');
    await stop.passed;
    const second = await startDurable(crashed(path), { apps, defaultApp: 'main' });
    const events = await eventsUntil(second.url, endOf(runId));
    expect(shapeOf(events, namesOf(events)).slice(-2)).to.deep.equal([
      'message_end h lost',
      'message_end main lost',
    ]);
    expect(foldOf(events).lanes).to.equal(undefined);
  });

  it('is unknown to whoever folds only what it knows', () => {
    const spawned = { type: 'run_spawned', runId: 'r', lane: 1, ts: 1, messageId: 'm', app: 'a' } as const;
    const message = { id: 'q', role: 'user', content: [], createdAt: 1 } as const;
    const state = foldOf([
      { ...spawned, message, sessionId: 'main', cursor: 'c' },
      { type: 'content_delta', runId: 'r', delta: 'x', index: 0, ts: 1, sessionId: 'main', cursor: 'c' },
    ]);
    expect({ ...state, lanes: undefined, cursor: null }).to.deep.equal({ ...initialState, lanes: undefined });
  });
});
