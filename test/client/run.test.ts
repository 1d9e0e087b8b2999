import { expect } from 'chai';
import { type Client, createClient, type StopReason } from '../../client/index.js';
import { GatewayError } from '../../shared/errors.js';
import type { Message } from '../../shared/messages.js';
import { collect } from '../support/client.js';
import {
  at,
  gap,
  info,
  logged,
  type ScriptedTransport,
  scriptedClient,
  seqs,
  settle,
  snapshot,
  take,
} from './scripted.js';

const asked: Message = { id: 'm1', role: 'user', content: [{ type: 'text', text: 'Hello' }], createdAt: 1 };
const answer = (text: string): Message => ({
  id: 'a1',
  role: 'assistant',
  content: [{ type: 'text', text }],
  createdAt: 2,
});
const accepted = { runId: 'r1', message: asked, position: 0, cursor: at(0) };

const start = (seq: number, runId = 'r1') =>
  logged(seq, 'message_start', { runId, messageId: 'a1', app: 'x' });
const delta = (seq: number, text: string, runId = 'r1') =>
  logged(seq, 'content_delta', { runId, delta: text, index: 0 });
const end = (seq: number, over: object = {}) =>
  logged(seq, 'message_end', { runId: 'r1', stopReason: 'end', message: answer('Hi you'), ...over });

describe('client send', () => {
  let transport: ScriptedTransport;
  let client: Client;
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);

  beforeEach(() => {
    ({ transport, client } = scriptedClient());
    transport.answers.send = accepted;
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    client.disconnect();
    await settle();
    process.off('unhandledRejection', note);
    expect(unhandled.splice(0)).to.deep.equal([]);
  });

  const connected = async () => (await transport.link(0)).connect({ main: info(1, { resume: 'exact' }) });

  it('starts without being iterated, and follows from its acceptance', async () => {
    const run = client.send('main', 'Hello', { metadata: { a: 1 }, onBusy: 'steer' });
    const { operation, params } = await transport.until(() => transport.requests[0]);
    expect(operation).to.equal('send');
    expect(params).to.deep.include({
      sessionId: 'main',
      message: { id: run.idempotencyKey, content: 'Hello' },
      metadata: { a: 1 },
      onBusy: 'steer',
    });
    expect(params.idempotencyKey).to.match(/^[0-9a-f]{32}$/);
    expect(await run.accepted).to.deep.equal(accepted);
    const link = await connected();
    expect(link.targets).to.deep.equal([{ sessionId: 'main', cursor: at(0) }]);
    link.emit(start(1), end(2, { usage: { outputTokens: 2 } }));
    expect(await run.result).to.deep.equal({
      runId: 'r1',
      stopReason: 'end',
      message: answer('Hi you'),
      usage: { outputTokens: 2 },
      cursor: at(2),
    });
  });

  it('yields the events of its run alone, from their beginning to every iteration', async () => {
    const run = client.send('main', 'Hello');
    const link = await connected();
    const early = collect(run);
    link.emit(start(1), delta(2, 'other', 'r0'), delta(3, 'Hi'), end(4));
    expect(seqs(await early)).to.deep.equal([1, 3, 4]);
    await run.result;
    expect(seqs(await collect(run))).to.deep.equal([1, 3, 4]);
  });

  it('iterates its text', async () => {
    const run = client.send('main', 'Hello');
    (await connected()).emit(start(1), delta(2, 'Hi'), delta(3, ' you'), end(4));
    expect(await collect(run.text)).to.deep.equal(['Hi', ' you']);
    expect(await collect(run.text)).to.deep.equal(['Hi', ' you']);
  });

  it('shares an open link and misses nothing between acceptance and its own subscription', async () => {
    const events = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1, { epoch: null, head: 0 }) });
    const run = client.send('main', 'Hello');
    link.emit(start(1));
    await run.accepted;
    link.emit(end(2));
    expect((await run.result).cursor).to.equal(at(2));
    expect(seqs(await collect(run))).to.deep.equal([1, 2]);
    expect(seqs(await take(events, 2))).to.deep.equal([1, 2]);
    expect(link.changes).to.deep.equal([]);
    expect(transport.links).to.have.length(1);
  });

  it('goes back to its acceptance when the events overtook the answer', async () => {
    client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) }).emit(start(1), delta(2, 'Hi'), end(3));
    const run = client.send('main', 'Hello');
    expect(seqs(await collect(run))).to.deep.equal([1, 2, 3]);
    expect(link.changes).to.deep.equal([]);
    expect(transport.links).to.have.length(1);
  });

  for (const stopReason of [
    'end',
    'max_tokens',
    'tool_use',
    'aborted',
    'superseded',
    'timeout',
    'lost',
  ] satisfies StopReason[]) {
    it(`resolves when the run ends with ${stopReason}`, async () => {
      const run = client.send('main', 'Hello');
      (await connected()).emit(end(1, { stopReason }));
      expect(await run.result).to.include({ stopReason, runId: 'r1' });
    });
  }

  it('resolves with the error of a failed run and the target of a steered one', async () => {
    const failed = client.send('main', 'Hello');
    const link = (await connected()).emit(
      logged(1, 'run_error', { runId: 'r1', code: 'INTERNAL', message: 'no' }),
      end(2, { stopReason: 'error' }),
    );
    expect(await failed.result).to.deep.include({
      stopReason: 'error',
      error: { code: 'INTERNAL', message: 'no' },
    });
    transport.answers.send = { ...accepted, runId: 'r2', cursor: at(2) };
    const steered = client.send('main', 'Hello');
    await steered.accepted;
    link.emit(end(3, { runId: 'r2', stopReason: 'steered', intoRunId: 'r0' }));
    expect(await steered.result).to.include({ stopReason: 'steered', intoRunId: 'r0' });
  });

  it('repeats a send that may not have arrived with one key, then gives up', async () => {
    transport.answers.send = (_: unknown, attempt: number) =>
      attempt < 3 ? new GatewayError({ code: attempt === 1 ? 'NETWORK' : 'OVERLOADED' }) : accepted;
    const run = client.send('main', 'Hello');
    expect(await run.accepted).to.deep.equal(accepted);
    const keys = transport.requests.map(({ params }) => params.idempotencyKey);
    expect(keys).to.have.length(3);
    expect(new Set(keys).size).to.equal(1);
    expect(keys[0]).to.equal(run.idempotencyKey);
  });

  it('rejects, without an unhandled rejection, only what was never accepted', async () => {
    for (const code of ['IDEMPOTENCY_CONFLICT', 'SESSION_BUSY', 'QUEUE_FULL']) {
      transport.requests.length = 0;
      transport.answers.send = new GatewayError({ code });
      const run = client.send('main', 'Hello');
      void run.abort();
      const errors = await Promise.all([
        run.accepted.catch((error: unknown) => error),
        run.result.catch((error: unknown) => error),
        collect(run).catch((error: unknown) => error),
        collect(run.text).catch((error: unknown) => error),
      ]);
      for (const error of errors) expect(error).to.have.property('code', code);
      expect(transport.requests).to.have.length(1);
    }
    expect(transport.links).to.have.length(0);
    client.send('main', 'nobody looks');
    await settle();
  });

  it('only detaches on break and signal, which ends the wait for the result too', async () => {
    const abort = new AbortController();
    const run = client.send('main', 'Hello', { signal: abort.signal });
    const link = await connected();
    link.emit(start(1), delta(2, 'Hi'));
    for await (const _ of run) break;
    for await (const _ of run.text) break;
    const rest = collect(run);
    abort.abort();
    expect(seqs(await rest)).to.deep.equal([1]);
    expect(await run.result).to.deep.include({
      stopReason: 'lost',
      error: { code: 'ABORTED', message: 'Aborted' },
    });
    expect(transport.requests.map(({ operation }) => operation)).to.deep.equal(['send']);
  });

  it('gives up a message that was not accepted when its signal aborts', async () => {
    transport.answers.send = () => new Promise(() => {});
    const abort = new AbortController();
    const run = client.send('main', 'Hello', { signal: abort.signal });
    abort.abort();
    expect(await run.accepted.catch((error: unknown) => error)).to.have.property('code', 'ABORTED');
  });

  it('gives up between two tries when the client disconnects', async () => {
    transport.answers.send = new GatewayError({ code: 'OVERLOADED', retryAfterMs: 60_000 });
    const run = client.send('main', 'Hello');
    await settle();
    client.disconnect();
    expect(await run.accepted.catch((error: unknown) => error)).to.have.property('code', 'ABORTED');
    expect(transport.requests).to.have.length(1);
  });

  it('aborts its own run by name', async () => {
    transport.answers.abort = { aborted: true };
    const run = client.send('main', 'Hello');
    expect(await run.abort('enough')).to.deep.equal({ aborted: true });
    expect(transport.requests[1]).to.deep.equal({
      operation: 'abort',
      params: { sessionId: 'main', runId: 'r1', reason: 'enough' },
    });
  });

  it('keeps the id a caller gave its message', async () => {
    const message = { id: 'mine', content: 'Hello' };
    client.send('main', message, { idempotencyKey: 'k' });
    await settle();
    expect(transport.requests[0]!.params).to.deep.include({ message, idempotencyKey: 'k' });
  });

  it('goes on after a gap inside the run and completes its text', async () => {
    const run = client.send('main', 'Hello');
    const link = await connected();
    const text = collect(run.text);
    link.emit(start(1), delta(2, 'Hi'));
    const active = { runId: 'r1', app: 'x', message: answer('Hi yo') };
    link.emit(gap(9), snapshot(9, { run: active }), delta(10, 'u'), end(11));
    expect(await text).to.deep.equal(['Hi', ' yo', 'u']);
    expect(seqs(await collect(run))).to.deep.equal([1, 2, 'gap', 'snapshot', 10, 11]);
  });

  const ended = (text: string): Message => ({ ...answer(text), runId: 'r1', stopReason: 'max_tokens' });

  const outcome = { runId: 'r1', stopReason: 'max_tokens', message: ended('Hi you'), cursor: at(8) };
  const known = { runId: 'r1', sessionId: 'main', state: 'ended', cursor: at(0), result: outcome };

  it('asks for the outcome when a gap swallowed its end', async () => {
    transport.answers.run = known;
    const run = client.send('main', 'Hello');
    const link = await connected();
    const text = collect(run.text);
    link.emit(start(1), delta(2, 'Hi')).emit(gap(9), snapshot(9));
    expect(await run.result).to.deep.equal(outcome);
    expect(await text).to.deep.equal(['Hi', ' you']);
  });

  it('asks for it also where its start was swallowed', async () => {
    transport.answers.run = known;
    const run = client.send('main', 'Hello');
    (await connected()).emit(gap(900), snapshot(900, { hasMore: true }));
    expect(await run.result).to.deep.equal(outcome);
  });

  it('goes on where a gap came before its acceptance', async () => {
    transport.answers.run = { ...known, state: 'queued', result: undefined };
    const run = client.send('main', 'Hello');
    const link = await connected();
    link.emit(gap(0), snapshot(0));
    await settle();
    link.emit(start(1), delta(2, 'Hi you'), end(3));
    expect(await run.result).to.include({ stopReason: 'end' });
  });

  it('asks again where a later gap swallowed its end', async () => {
    let times = 0;
    transport.answers.run = () => (times++ === 0 ? { ...known, state: 'running', result: undefined } : known);
    const run = client.send('main', 'Hello');
    const link = await connected();
    link.emit(gap(0), snapshot(0));
    await settle();
    link.emit(gap(9), snapshot(9));
    expect(await run.result).to.deep.equal(outcome);
  });

  it('is lost, saying why, where nobody knows how it ended', async () => {
    transport.answers.run = () => new GatewayError({ code: 'RUN_NOT_FOUND' });
    const lost = client.send('main', 'Hello');
    (await connected()).emit(gap(9), snapshot(9, { messages: [asked] }));
    const { stopReason, error } = await lost.result;
    expect(stopReason).to.equal('lost');
    expect(error).to.have.property('code', 'RUN_NOT_FOUND');
  });

  it('waits on for a queued run across a gap', async () => {
    const run = client.send('main', 'Hello');
    const link = await connected();
    link.emit(gap(9), snapshot(9, { queue: [{ runId: 'r1', message: asked, onBusy: 'queue' }] }));
    link.emit(start(10), end(11));
    expect(await run.result).to.include({ stopReason: 'end' });
  });

  it('resolves as lost, saying why, when this client can follow no more', async () => {
    const refused = client.send('main', 'Hello');
    (await connected()).end(new GatewayError({ code: 'ACCESS_DENIED', message: 'no more' }));
    expect(await refused.result).to.deep.include({
      stopReason: 'lost',
      error: { code: 'ACCESS_DENIED', message: 'no more' },
    });
    const left = client.send('main', 'Hello');
    await transport.link(1);
    client.disconnect();
    expect((await left.result).error).to.have.property('code', 'ABORTED');
  });
});

describe('client operations', () => {
  it('names each operation with its session and reads the answers', async () => {
    const { transport, client } = scriptedClient();
    const session = client.session('main');
    transport.answers = { status: { gatewayId: 'g' }, invoke: { pong: true } };
    expect(await client.invoke('ping', { a: 1 }, { sessionId: 's' })).to.deep.equal({ pong: true });
    await client.abort('main', { runId: 'r', reason: 'x' });
    await client.close('main');
    await client.session('main').respond('c1', { output: 1 });
    await session.approve('c2', { changed: true });
    await client.session('main').deny('c3', 'never');
    await session.history({ limit: 5, before: 'x' });
    await client.sessions({ limit: 2 });
    await client.apps();
    await client.methods();
    await session.status();
    expect(await client.status()).to.deep.equal({ gatewayId: 'g' });
    await client.channel('tasks').publish(1);
    const sent = JSON.parse(
      JSON.stringify(transport.requests.map(({ operation, params }) => [operation, params])),
    );
    expect(sent).to.deep.equal([
      ['invoke', { method: 'ping', params: { a: 1 }, sessionId: 's' }],
      ['abort', { sessionId: 'main', runId: 'r', reason: 'x' }],
      ['close', { sessionId: 'main' }],
      ['tool-response', { sessionId: 'main', callId: 'c1', output: 1 }],
      ['tool-response', { sessionId: 'main', callId: 'c2', approved: true, input: { changed: true } }],
      ['tool-response', { sessionId: 'main', callId: 'c3', approved: false, reason: 'never' }],
      ['history', { sessionId: 'main', limit: 5, before: 'x' }],
      ['sessions', { limit: 2 }],
      ['apps', {}],
      ['methods', {}],
      ['status', { sessionId: 'main' }],
      ['status', {}],
      ['channel', { sessionId: 'main', channel: 'tasks', payload: 1 }],
    ]);
  });

  it('streams a method, and ends it with its signal', async () => {
    const { transport, client } = scriptedClient();
    let released = false;
    transport.items = (async function* () {
      try {
        yield { data: 1 };
        yield { data: 2 };
      } finally {
        released = true;
      }
    })();
    for await (const item of client.stream('watch', {})) {
      expect(item).to.equal(1);
      break;
    }
    expect(released).to.equal(true);
    const signal = AbortSignal.abort();
    const error = await client
      .stream('watch', {}, { signal })
      .next()
      .catch((failure: unknown) => failure);
    expect(error).to.have.property('code', 'ABORTED');
  });

  it('needs a base URL or a transport', () => {
    expect(() => createClient({}))
      .to.throw(GatewayError)
      .with.property('code', 'INVALID_REQUEST');
  });
});
