import { expect } from 'chai';
import { childrenOf, type RunNode, runTree, sessionRuns } from '../../client/runs/index.js';
import { type Application, defineApp, type Turn } from '../../server/index.js';
import { initialState, type LaneRun, type SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { collect, connectClient, failure, takeUntil } from '../support/client.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { at, gap, info, logged, scriptedClient, snapshot } from './scripted.js';

const app = (run: (turn: Turn) => unknown): Application => defineApp({ run: run as never });
const message = (id: string, text = ''): Message => ({
  ...{ id, role: 'assistant', createdAt: 7 },
  content: text ? [{ type: 'text', text }] : [],
});
const lane = (runId: string, over: Partial<LaneRun> = {}): LaneRun => ({
  ...{ runId, app: 'helper', lane: 1, asked: message(`${runId}?`), message: message(`${runId}!`, runId) },
  ...over,
});
/** A tree in one line: names, how they stand, and what is below them. */
const shape = (runs: readonly RunNode[]): string =>
  runs
    .map(({ name, status, children }) => `${name} ${status}${children.length ? ` (${shape(children)})` : ''}`)
    .join(', ');

describe('the tree of runs', () => {
  const running: SessionState = {
    ...initialState,
    messages: [message('q', 'go')],
    run: { runId: 'r', app: 'main', message: message('a', 'so far') },
    lanes: [
      lane('c1', { name: 'first', parentRunId: 'r', stopReason: 'error', endedAt: 9 }),
      lane('c2', { name: 'second', parentRunId: 'r' }),
      lane('mine'),
      lane('c3', { name: 'below', parentRunId: 'c2' }),
      lane('d', { name: 'later', parentRunId: 'r', detached: true }),
      lane('e', { name: 'orphan', parentRunId: 'gone', detached: true }),
    ],
    pending: [{ callId: 'ask', runId: 'c3', kind: 'input', name: 'colour' }],
  };

  it('has the run of the conversation with its children, then the lanes of people and detached children', () => {
    const tree = runTree(running);
    expect(shape(tree)).to.equal(
      'main running (first error, second running (below waiting)), helper running, later running, orphan running',
    );
    const [root] = tree;
    expect(root).to.include({ runId: 'r', lane: 0, text: 'so far', startedAt: 7 });
    expect(root!.children[0]).to.deep.include({ runId: 'c1', text: 'c1', endedAt: 9, parentRunId: 'r' });
    expect(root!.children[1]!.children[0]!.pendingCallIds).to.deep.equal(['ask']);
  });

  it('is empty where nothing runs, and changes nothing that it is given', () => {
    expect(runTree(initialState)).to.deep.equal([]);
    const before = structuredClone(running);
    runTree(running);
    expect(running).to.deep.equal(before);
  });

  it('has the children of an answer that is over, and what is below them', () => {
    const over = { stopReason: 'end', endedAt: 9 } as const;
    const children = [
      { ...lane('c1', { name: 'first', parentRunId: 'r' }), ...over },
      { ...lane('c2', { name: 'below', parentRunId: 'c1' }), ...over },
      { ...lane('d', { name: 'later', parentRunId: 'c1', detached: true }), ...over },
    ];
    expect(shape(childrenOf({ children }))).to.equal('first end (below end), later end');
    expect(childrenOf({})).to.deep.equal([]);
  });
});

describe('the runs of a session of a client', () => {
  it('are steered and ended one by one', async () => {
    const took = gate<string>();
    const { url } = await startGateway({
      defaultApp: 'main',
      apps: {
        main: app(async (turn) => {
          const both = ['a', 'b'].map((id) => turn.spawn('helper', { message: id, id }).result);
          return (await Promise.all(both)).map(({ stopReason, text }) => `${stopReason} ${text}`).join();
        }),
        helper: app(async (turn) => {
          for (;;) {
            const [told] = turn.steered();
            if (told) {
              took.open(told.id);
              return (told.content[0] as { text: string }).text;
            }
            await new Promise<void>((resolve, reject) => {
              setImmediate(resolve);
              turn.signal.onabort = () => reject(turn.signal.reason);
            });
          }
        }),
      },
    });
    const client = connectClient(url);
    const events = client.events('main', { from: 'earliest' });
    const run = client.send('main', 'go');
    let begun = 0;
    await takeUntil(events, ({ type }) => type === 'run_spawned' && ++begun === 2);
    const runs = sessionRuns(client, 'main');
    const tree = runTree(await client.session('main').state());
    expect(shape(tree)).to.equal('main running (a running, b running)');
    const [a, b] = tree[0]!.children;
    const { messageId } = await runs.steer(a!.runId, 'only this year');
    expect(await took.passed).to.equal(messageId);
    expect(await runs.abort(b!.runId, 'enough')).to.deep.equal({ aborted: true });
    const { message, runId } = await run.result;
    expect(message.content).to.deep.equal([{ type: 'text', text: 'end only this year,aborted ' }]);
    expect((await failure(runs.steer(a!.runId, 'late'))).code).to.equal('RUN_NOT_FOUND');
    expect((await failure(runs.steer(runId, 'late'))).code).to.equal('RUN_NOT_FOUND');
    const { messages } = await client.session('main').state();
    expect(shape(childrenOf(messages.at(-1)!))).to.equal('a end, b aborted');
  });

  it('need a client of this package', () => {
    expect(() => sessionRuns({ connection: {} as never }, 'main')).to.throw('createClient');
  });
});

describe('a send in a lane of its own', () => {
  const start = async () => {
    const held = gate();
    const begun: string[] = [];
    const { url } = await startGateway({
      app: app(async function* (turn) {
        begun.push(turn.text);
        yield `${turn.text} `;
        if (turn.text === 'long') await held.passed;
        yield 'done';
      }),
    });
    return { client: connectClient(url), begun, held };
  };

  it('is answered beside the running answer, and joins the conversation', async () => {
    const { client, held } = await start();
    const long = client.send('main', 'long');
    await takeUntil(client.events('main', { from: 'earliest' }), ({ type }) => type === 'content_delta');
    const beside = client.send('main', 'quick', { lane: 'new' });
    const [events, text, result] = await Promise.all([collect(beside), collect(beside.text), beside.result]);
    expect(events[0]).to.include({ type: 'run_spawned', runId: result.runId });
    expect(events.at(-1)).to.include({ type: 'message_end', runId: result.runId });
    expect(text.join('')).to.equal('quick done');
    const { runId, message } = await beside.accepted;
    expect({ runId: result.runId, id: message?.id }).to.deep.equal({ runId, id: beside.idempotencyKey });
    // Found again, it is the same.
    expect(await client.session('main').run(runId).result).to.deep.equal(result);
    held.open();
    await long.result;
    const { messages } = await client.session('main').state();
    expect(messages.map(({ content }) => (content[0] as { text: string }).text)).to.deep.equal([
      ...['long', 'quick', 'quick done', 'long done'],
    ]);
  });

  it('begins once, however often it is sent, and joins nothing with keep: false', async () => {
    const { client, begun } = await start();
    const options = { lane: 'new', keep: false, idempotencyKey: 'k'.repeat(32) } as const;
    const runs = [1, 2, 3].map(() => client.send('main', 'quick', options));
    const results = await Promise.all(runs.map(({ result }) => result));
    expect(new Set(results.map(({ runId }) => runId))).to.have.length(1);
    expect(begun).to.deep.equal(['quick']);
    expect(await client.send('main', 'quick', options).result).to.deep.equal(results[0]);
    expect(begun).to.have.length(1);
    expect((await client.session('main').state()).messages).to.deep.equal([]);
    const other = client.send('main', 'other', options);
    expect((await failure(other.accepted)).code).to.equal('IDEMPOTENCY_CONFLICT');
    await failure(other.result);
  });

  it('is shown by a watch as running from its beginning on, and no more as a message on its way', async () => {
    const { client, held } = await start();
    const watch = client.session('main').watch();
    const shown = (fits: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!fits()) return;
          queueMicrotask(stop);
          resolve();
        };
        const stop = watch.subscribe(look);
        look();
      });
    const run = client.send('main', 'long', { lane: 'new' });
    await shown(() => (watch.getSnapshot().lanes?.[0]?.message.content.length ?? 0) > 0);
    const { status, sending, messages, lanes } = watch.getSnapshot();
    expect({ status, sending, messages, lanes: lanes!.length }).to.deep.equal({
      ...{ status: 'running', sending: [], messages: [], lanes: 1 },
    });
    held.open();
    await run.result;
    await shown(() => watch.getSnapshot().messages.length === 2);
    expect(watch.getSnapshot().status).to.equal('ready');
  });

  describe('that a gap swallows a part of', () => {
    const accepted = { runId: 'r1', message: message('m1'), position: 0, cursor: at(0) };
    const follow = async () => {
      const { transport, client } = scriptedClient();
      transport.answers.send = accepted;
      const run = client.send('main', 'Hello', { lane: 'new' });
      await run.accepted;
      const link = (await transport.link(0)).connect({ main: info(1, { resume: 'gap' }) });
      return { transport, run, link };
    };
    const own = (over: Partial<LaneRun> = {}) => lane('r1', { message: message('a1', 'Hi '), ...over });
    const end = (seq: number) =>
      logged(seq, 'message_end', {
        ...{ runId: 'r1', lane: 1, stopReason: 'end', message: message('a1', 'Hi you') },
      });

    it('goes on with the text that it has so far', async () => {
      const { run, link } = await follow();
      const text = collect(run.text);
      link.emit(
        gap(5),
        snapshot(5, { lanes: [own()] }),
        logged(6, 'content_delta', { runId: 'r1', delta: 'you', index: 0 }),
        end(7),
      );
      expect(await text).to.deep.equal(['Hi ', 'you']);
      expect(await run.result).to.deep.equal({
        ...{ runId: 'r1', stopReason: 'end', message: message('a1', 'Hi you'), cursor: at(7) },
      });
    });

    it('is asked for if it is over', async () => {
      const { run, link, transport } = await follow();
      const result = { runId: 'r1', stopReason: 'end', message: message('a1', 'Hi'), cursor: at(4) };
      transport.answers.run = { ...accepted, sessionId: 'main', state: 'ended', result };
      const ended = own({ stopReason: 'end', endedAt: 9, parentRunId: 'p' });
      link.emit(gap(5), snapshot(5, { lanes: [ended] }));
      expect(await run.result).to.deep.equal(result);
    });
  });
});
