import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { collect, connectClient, failure, reaches, takeUntil } from '../support/client.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { foldOf } from '../support/session-view.js';

const textOf = (message: { readonly content: readonly unknown[] }) =>
  message.content.map((block) => (block as { text?: string }).text ?? '').join('');

describe('a run of a client', () => {
  it('is accepted, tells its events and text, and resolves with its result', async () => {
    const { url } = await startGateway({ app: echo });
    const client = connectClient(url);
    const run = client.send('main', { id: 'mine', content: 'hello' }, { metadata: { a: 1 } });
    const accepted = await run.accepted;
    expect(accepted).to.deep.include({ position: 0 });
    expect(accepted.message).to.include({ id: 'mine', role: 'user' });
    const result = await run.result;
    expect(result).to.include({ runId: accepted.runId, stopReason: 'end' });
    expect(textOf(result.message)).to.equal('echo: hello');
    const events = await collect(run);
    expect(events.map(({ type }) => type)).to.deep.equal([
      'message_accepted',
      'message_start',
      'content_delta',
      'content_delta',
      'message_end',
    ]);
    expect(events.at(-1)!.cursor).to.equal(result.cursor);
    expect((await collect(run.text)).join('')).to.equal('echo: hello');
  });

  it('follows one after another over one stream', async () => {
    const { url, gateway } = await startGateway({ app: echo });
    const connections = new Hearing(gateway, 'client:connected');
    const client = connectClient(url);
    for (let n = 0; n < 4; n++) {
      const run = client.send('main', `${n}`);
      expect((await collect(run.text)).join('')).to.equal(`echo: ${n}`);
    }
    await Promise.all(['a', 'b', 'c'].map((id) => client.send(id, 'x').result));
    expect(connections.heard).to.have.length(1);
    expect(client.connection.state).to.equal('open');
  });

  it('tells nobody else apart: each run has its own events, in parallel and queued', async () => {
    const { url } = await startGateway({ app: echo, limits: { sendsPerSecond: Infinity } });
    const client = connectClient(url);
    const runs = [...'abcdef'].map((text) => ({ text, run: client.send('main', text) }));
    for (const { text, run } of runs) {
      expect((await collect(run.text)).join('')).to.equal(`echo: ${text}`);
      expect((await run.result).stopReason).to.equal('end');
    }
  });

  it('is aborted by name, from here and from elsewhere, also before it starts', async () => {
    const { app, held, began } = heldApp();
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const first = client.send('main', 'one');
    const second = client.send('main', 'two');
    await began.passed;
    expect((await second.accepted).position).to.equal(1);
    expect(await second.abort('no need')).to.deep.equal({ aborted: true });
    expect((await second.result).stopReason).to.equal('aborted');
    expect(await connectClient(url).abort('main')).to.deep.equal({ aborted: true });
    expect((await first.result).stopReason).to.equal('aborted');
    expect(await first.abort()).to.deep.equal({ aborted: false });
    held.open();
  });

  it('goes on when its iteration is left by break or signal', async () => {
    const { app, held } = heldApp();
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const abort = new AbortController();
    const run = client.send('main', 'x', { signal: abort.signal });
    for await (const text of run.text) if (text) break;
    abort.abort();
    expect(await collect(run)).to.deep.equal([]);
    expect((await run.result).error).to.include({ code: 'ABORTED' });
    // As after a reload.
    const again = connectClient(url)
      .session('main')
      .run((await run.accepted).runId);
    const text = again.text[Symbol.asyncIterator]();
    expect((await text.next()).value).to.equal('working ');
    held.open();
    expect((await text.next()).value).to.equal('done with x');
    expect(await again.result).to.include({ stopReason: 'end' });
  });

  it('ends with what the app threw, and steered where another run took its message', async () => {
    const passed = gate();
    const began = gate();
    const app = defineApp({
      async *run(turn) {
        if (turn.text === 'fail') throw new Error('inner');
        yield 'a';
        began.open();
        await passed.passed;
        yield turn
          .steered()
          .map(({ content }) => textOf({ content }))
          .join('');
      },
    });
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const failed = await client.send('other', 'fail').result;
    expect(failed.stopReason).to.equal('error');
    expect(failed.error).to.have.property('code', 'INTERNAL');
    const run = client.send('main', 'go');
    await began.passed;
    const steering = client.send('main', 'left', { onBusy: 'steer' });
    await steering.accepted;
    passed.open();
    const { runId } = await run.accepted;
    expect(await steering.result).to.include({ stopReason: 'steered', intoRunId: runId });
    expect(textOf((await run.result).message)).to.equal('aleft');
  });

  it('is refused with what the gateway says, without an unhandled rejection', async () => {
    const { app, held, began } = heldApp();
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    client.send('main', 'one');
    await began.passed;
    const busy = client.send('main', 'two', { onBusy: 'reject' });
    expect(await failure(busy.accepted)).to.include({ code: 'SESSION_BUSY', status: 409 });
    expect(await failure(busy.result)).to.have.property('code', 'SESSION_BUSY');
    expect(await failure(collect(busy))).to.have.property('code', 'SESSION_BUSY');
    expect(await failure(collect(busy.text))).to.have.property('code', 'SESSION_BUSY');
    client.send('no such app:x', 'unheeded');
    held.open();
    await new Promise(setImmediate);
  });

  it('joins the run of the same key, and is refused with another message', async () => {
    const { url, gateway } = await startGateway({ app: echo });
    const started = new Hearing(gateway, 'run:started');
    const client = connectClient(url);
    const first = await client.send('main', 'hello', { idempotencyKey: 'k' }).result;
    const again = connectClient(url).send('main', 'hello', { idempotencyKey: 'k' });
    expect(await again.result).to.deep.equal(first);
    expect((await collect(again))[0]!.type).to.equal('message_accepted');
    expect(await failure(client.send('main', 'other', { idempotencyKey: 'k' }).accepted)).to.include({
      code: 'IDEMPOTENCY_CONFLICT',
      status: 422,
    });
    expect(started.heard).to.have.length(1);
  });

  it('finds its answer when its events are no longer kept', async () => {
    const talker = defineApp({
      async *run() {
        for (let n = 0; n < 60; n++) {
          yield `${n} `;
          await new Promise(setImmediate);
        }
      },
    });
    const limits = { retention: { events: 10, bytes: 1e9, ageMs: 1e9 } };
    const { url } = await startGateway({ app: talker, limits });
    await connectClient(url).send('main', 'x', { idempotencyKey: 'k' }).result;
    const late = connectClient(url).send('main', 'x', { idempotencyKey: 'k' });
    const result = await late.result;
    expect(textOf(result.message)).to.match(/^0 1 .* 59 $/);
    expect((await collect(late.text)).join('')).to.equal(textOf(result.message));
  });
});

describe('a watched session', () => {
  it('shows sends, the queue, questions and answers as they come', async () => {
    const app = defineApp({
      tools: { erase: tool({ confirm: true, handler: () => 'erased' }) },
      run: async (turn) =>
        turn.text === 'ask'
          ? `${(await turn.ask({ name: 'colour' })) as string}`
          : turn.callTool('erase', {}).then(String, () => 'kept'),
    });
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const session = client.session('main');
    const watch = session.watch();
    watch.subscribe(() => {});
    await reaches(client, 'open');
    const shows = async (matches: () => boolean) => {
      if (matches()) return watch.getSnapshot();
      return new Promise<ReturnType<typeof watch.getSnapshot>>((resolve) => {
        const stop = watch.subscribe(() => {
          if (!matches()) return;
          stop();
          resolve(watch.getSnapshot());
        });
      });
    };
    const run = session.send('go');
    expect(watch.getSnapshot().sending).to.have.length(1);
    const asking = await shows(() => watch.getSnapshot().pending.length > 0);
    expect(asking.sending).to.deep.equal([]);
    expect(asking.pending[0]).to.include({ kind: 'confirmation', name: 'erase' });
    const queued = session.send('more');
    await queued.accepted;
    await shows(() => watch.getSnapshot().queue.length === 1);
    await session.approve(asking.pending[0]!.callId);
    expect(await failure(connectClient(url).session('main').deny(asking.pending[0]!.callId))).to.include({
      code: 'ALREADY_ANSWERED',
      status: 409,
    });
    expect(textOf((await run.result).message)).to.include('erased');
    const next = await shows(() => watch.getSnapshot().pending.length > 0);
    await client.session('main').deny(next.pending[0]!.callId, 'not now');
    expect(textOf((await queued.result).message)).to.include('kept');
    const question = session.send('ask');
    const open = await shows(() => watch.getSnapshot().pending[0]?.kind === 'input');
    await session.respond(open.pending[0]!.callId, { output: 'red' });
    expect(textOf((await question.result).message)).to.equal('red');
    const rest = await shows(() => watch.getSnapshot().run === null);
    expect(rest.messages).to.have.length(6);
    const { sending: _, status: __, ...state } = rest;
    const log = await takeUntil(
      client.events('main', { from: 'earliest' }),
      ({ cursor }) => cursor === state.cursor,
    );
    expect(state).to.deep.equal(foldOf(log));
  });

  it('goes on from a state that was rendered elsewhere', async () => {
    const { url } = await startGateway({ app: echo });
    const client = connectClient(url);
    await client.send('main', 'one').result;
    const rendered = client.session('main').watch();
    await new Promise<void>((resolve) => rendered.subscribe(() => resolve()));
    const { sending: _, status: __, ...state } = JSON.parse(JSON.stringify(rendered.getSnapshot()));
    const page = connectClient(url);
    const watch = page.session('main').watch({ initial: state });
    expect(watch.getSnapshot().messages).to.have.length(2);
    const { cursor } = await client.send('main', 'two').result;
    while (watch.getSnapshot().cursor !== cursor)
      await new Promise<void>((resolve) => watch.subscribe(() => resolve()));
    expect(watch.getSnapshot().messages.map(textOf)).to.deep.equal(['one', 'echo: one', 'two', 'echo: two']);
    page.session('main').detach();
  });
});
