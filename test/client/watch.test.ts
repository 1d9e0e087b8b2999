import { expect } from 'chai';
import { type Client, createClient, initialState, reduce, type Watch } from '../../client/index.js';
import { GatewayError } from '../../shared/errors.js';
import { type HeldTimers, holdTimers } from '../support/held-timers.js';
import { uncaught } from '../support/uncaught.js';
import { at, gap, info, logged, ScriptedTransport, settle, snapshot } from './scripted.js';

describe('client watch', () => {
  let timers: HeldTimers;
  let clock: HeldTimers['clock'];
  let transport: ScriptedTransport;
  let client: Client;

  beforeEach(() => {
    timers = holdTimers();
    clock = timers.clock;
    transport = new ScriptedTransport();
    client = createClient({ transport });
  });
  afterEach(async () => {
    client.disconnect();
    await settle();
    // Each with its stack, so that whoever set it is found.
    expect(timers.left('client').join('\n')).to.equal('');
  });

  const message = (id: string, text = 'Hello') =>
    ({ id, role: 'user', content: [{ type: 'text', text }], createdAt: 1 }) as const;
  const acceptedEvent = (seq: number, key: string, runId = 'r1') =>
    logged(seq, 'message_accepted', { runId, message: message(key), key, onBusy: 'queue', position: 0 });
  const watched = (watch: Watch) => {
    const heard: string[] = [];
    return { heard, stop: watch.subscribe((change) => heard.push(change)) };
  };

  it('opens nothing until somebody subscribes, and shows that nothing is known', async () => {
    const watch = client.session('main').watch();
    expect(watch.getSnapshot()).to.deep.equal({ ...initialState, status: 'loading', sending: [] });
    await settle();
    expect(transport.links).to.have.length(0);
    expect(client.connection.state).to.equal('closed');
  });

  it('starts with the snapshot of the gateway and folds what follows', async () => {
    const watch = client.session('main').watch();
    const { heard } = watched(watch);
    const link = await transport.link(0);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', from: 'snapshot' }]);
    const first = snapshot(4, { messages: [message('m1')] });
    const last = logged(5, 'session_closed', { reason: 'x' });
    link.connect({ main: info(5) });
    expect(watch.getSnapshot().status).to.equal('loading');
    link.emit(first);
    expect(watch.getSnapshot().status).to.equal('ready');
    link.emit(last);
    expect(heard).to.deep.equal(['state', 'state']);
    expect(watch.getSnapshot()).to.deep.equal({
      ...reduce(reduce(initialState, first), last),
      status: 'closed',
      sending: [],
    });
  });

  it('closes a second after the last subscriber, and goes on from its place for the next', async () => {
    const watch = client.session('main').watch();
    const { stop } = watched(watch);
    const link = (await transport.link(0)).connect({ main: info(5) }).emit(snapshot(4));
    stop();
    stop();
    clock.tick(900);
    link.emit(logged(5));
    expect(watch.getSnapshot().cursor).to.equal(at(5));
    const again = watched(watch);
    clock.tick(5000);
    link.emit(logged(6));
    expect(again.heard).to.deep.equal(['state']);
    again.stop();
    clock.tick(6000);
    expect(link.closed).to.equal(true);
    expect(client.connection.state).to.equal('closed');
    expect(watch.getSnapshot().cursor).to.equal(at(6));
    watched(watch);
    expect((await transport.link(1)).targets).to.deep.equal([{ sessionId: 'main', cursor: at(6) }]);
  });

  it('goes on where it was when asked to, after its client was disconnected', async () => {
    const watch = client.session('main').watch();
    watched(watch);
    (await transport.link(0)).connect({ main: info(5) }).emit(snapshot(4));
    client.disconnect();
    await settle();
    expect(transport.links).to.have.length(1);
    watch.retry();
    const link = await transport.link(1);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', cursor: at(4) }]);
    link.connect({ main: info(5, { resume: 'exact' }) }).emit(logged(5));
    expect(watch.getSnapshot().cursor).to.equal(at(5));
  });

  it('keeps the state it began with for the hydration of what a server rendered', async () => {
    const state = { ...initialState, cursor: at(7), messages: [message('m1')] };
    const watch = client.session('main').watch({ initial: state });
    const first = watch.getServerSnapshot();
    expect(first).to.equal(watch.getSnapshot());
    watched(watch);
    (await transport.link(0)).connect({ main: info(8, { resume: 'exact' }) }).emit(logged(8));
    expect(watch.getServerSnapshot()).to.equal(first);
    expect(watch.getSnapshot()).to.not.equal(first);
    // Another part of the page is hydrated while the session is followed already.
    expect(client.session('main').watch({ initial: state }).getServerSnapshot()).to.deep.equal(first);
  });

  it('survives the rehearsal of StrictMode: subscribed, left and subscribed again', async () => {
    const watch = client.session('main').watch();
    watch.subscribe(() => {})();
    const { heard } = watched(watch);
    const link = (await transport.link(0)).connect({ main: info(5) }).emit(snapshot(4));
    expect(transport.links).to.have.length(1);
    clock.tick(10_000);
    link.emit(logged(5));
    expect(heard).to.deep.equal(['state', 'state']);
  });

  it('is one for all who look, however they spell the session', async () => {
    const [first, second] = [client.session('main').watch(), client.session('main').watch()];
    watched(first);
    watched(second);
    const link = (await transport.link(0)).connect({ main: info(5) }).emit(snapshot(4));
    expect(first.getSnapshot()).to.equal(second.getSnapshot());
    const spelled = client.session('assistant:main').watch();
    expect(spelled.getSnapshot()).to.equal(first.getSnapshot());
    watched(spelled);
    await settle();
    expect(transport.links).to.have.length(1);
    expect(link.changes).to.deep.equal([]);
  });

  it('returns the same object until something changes, and keeps what did not change', async () => {
    const watch = client.session('main').watch();
    const before = watch.getSnapshot();
    watched(watch);
    expect(watch.getSnapshot()).to.equal(before);
    const link = (await transport.link(0))
      .connect({ main: info(5) })
      .emit(snapshot(4, { messages: [message('m1')] }));
    const after = watch.getSnapshot();
    expect(after).not.to.equal(before);
    link.emit({ type: 'heartbeat' });
    expect(watch.getSnapshot()).to.equal(after);
    link.emit(
      logged(5, 'message_start', { runId: 'r1', messageId: 'a1', app: 'assistant' }),
      logged(6, 'content_delta', { runId: 'r1', delta: 'Hi', index: 0 }),
    );
    expect(watch.getSnapshot().messages).to.equal(after.messages);
    expect(watch.getSnapshot().sending).to.equal(after.sending);
  });

  it('tells pieces of text from other changes', async () => {
    const watch = client.session('main').watch();
    const { heard } = watched(watch);
    const link = (await transport.link(0)).connect({ main: info(5) }).emit(snapshot(4));
    link.emit(
      logged(5, 'message_start', { runId: 'r1', messageId: 'a1', app: 'assistant' }),
      logged(6, 'content_delta', { runId: 'r1', delta: 'Hi', index: 0 }),
    );
    expect(heard).to.deep.equal(['state', 'state', 'delta']);
    expect(watch.getSnapshot().status).to.equal('running');
  });

  it('says when a person is waited for', async () => {
    const watch = client.session('main').watch();
    watched(watch);
    const link = (await transport.link(0)).connect({ main: info(5) }).emit(snapshot(4));
    link.emit(logged(5, 'input_required', { runId: 'r1', callId: 'c', name: 'ask' }));
    expect(watch.getSnapshot().status).to.equal('waiting');
  });

  it('is ready where the session has not begun', async () => {
    const watch = client.session('main').watch();
    const { heard } = watched(watch);
    (await transport.link(0)).connect({ main: info(1, { epoch: null, head: 0 }) });
    expect(watch.getSnapshot().status).to.equal('ready');
    expect(heard).to.deep.equal(['state']);
  });

  it('resumes from a state that a server rendered', async () => {
    const state = { ...initialState, cursor: at(7), messages: [message('m1')] };
    const watch = client
      .session('main')
      .watch({ initial: JSON.parse(JSON.stringify({ ...state, status: 'running', sending: [] })) });
    expect(watch.getSnapshot()).to.deep.equal({ ...state, status: 'ready', sending: [] });
    watched(watch);
    const link = await transport.link(0);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', cursor: at(7) }]);
    link.connect({ main: info(8, { resume: 'exact' }) }).emit(logged(8));
    expect(watch.getSnapshot().cursor).to.equal(at(8));
    link.emit(gap(20), snapshot(20, { messages: [] }));
    expect(watch.getSnapshot().messages).to.deep.equal([]);
  });

  it('shows sends until the session does, in one step, with the same id and for everybody', async () => {
    const session = client.session('main');
    const watches = [session.watch(), session.watch()];
    for (const watch of watches) {
      watched(watch);
      watch.subscribe(() => {
        const { sending, queue } = watch.getSnapshot();
        expect(sending.length + queue.length).to.equal(sent ? 1 : 0);
      });
    }
    let sent = false;
    const link = (await transport.link(0)).connect({ main: info(1, { epoch: null, head: 0 }) });
    sent = true;
    const key = 'the-key';
    transport.answers.send = { runId: 'r1', message: message(key), position: 0, cursor: at(0) };
    const run = session.send('Hello', { idempotencyKey: key });
    const [first] = watches[0]!.getSnapshot().sending;
    expect(first).to.deep.include({ key, status: 'sending' });
    expect(first!.message).to.deep.include({ id: key, role: 'user', content: message(key).content });
    expect(watches[0]!.getSnapshot().status).to.equal('running');
    await run.accepted;
    expect(transport.requests[0]!.params).to.have.nested.property('message.id', key);
    expect(watches[0]!.getSnapshot().sending).to.have.length(1);
    link.emit(acceptedEvent(1, key));
    await settle();
    for (const watch of watches) {
      expect(watch.getSnapshot().queue.map((queued) => queued.message.id)).to.deep.equal([key]);
      expect(watch.getSnapshot().sending).to.deep.equal([]);
    }
    sent = false;
    link.emit(
      logged(2, 'message_start', { runId: 'r1', messageId: 'a1', app: 'assistant' }),
      logged(3, 'message_end', {
        runId: 'r1',
        stopReason: 'end',
        message: { ...message('a1'), role: 'assistant' },
      }),
    );
    expect((await run.result).message.id).to.equal('a1');
    expect(
      session
        .watch()
        .getSnapshot()
        .messages.map(({ id }) => id),
    ).to.deep.equal([key, 'a1']);
  });

  it('shows sends to either spelling of its session', async () => {
    transport.answers.send = () => new Promise(() => {});
    const watch = client.session('main').watch();
    watched(watch);
    const run = client.send('assistant:main', 'x');
    (await transport.link(0)).connect({ main: info(1, { epoch: null, head: 0 }) });
    expect(watch.getSnapshot().sending.map(({ key }) => key)).to.deep.equal([run.idempotencyKey]);
  });

  it('keeps a send that was refused, and sends it again under its key when asked', async () => {
    transport.answers.send = new GatewayError({ code: 'SESSION_BUSY' });
    const watch = client.session('main').watch();
    watched(watch);
    const link = (await transport.link(0)).connect({ main: info(1, { epoch: null, head: 0 }) });
    const run = client.send('main', { id: 'mine', content: 'Hello' });
    expect(watch.getSnapshot().sending[0]!.message.id).to.equal('mine');
    await run.result.catch(() => {});
    await settle();
    const [failed] = watch.getSnapshot().sending;
    expect(failed).to.include({ key: run.idempotencyKey, status: 'failed' });
    expect(failed!.error).to.have.property('code', 'SESSION_BUSY');
    expect(watch.getSnapshot().status).to.equal('ready');
    transport.answers.send = { runId: 'r1', message: message('mine'), position: 0, cursor: at(0) };
    failed!.retry();
    expect(watch.getSnapshot().sending).to.have.length(1);
    expect(watch.getSnapshot().status).to.equal('running');
    const sends = transport.requests.filter(({ operation }) => operation === 'send');
    expect(sends.map(({ params }) => params)).to.deep.equal([sends[0]!.params, sends[0]!.params]);
    await settle();
    link.emit(acceptedEvent(1, 'mine'));
    await settle();
    expect(watch.getSnapshot().sending).to.deep.equal([]);
  });

  it('tells what holds a send up, tries again at once when asked, and lets it be discarded', async () => {
    transport.answers.send = new GatewayError({ code: 'NETWORK', message: 'no line' });
    const watch = client.session('main').watch();
    watched(watch);
    const run = client.send('main', 'Hello');
    await settle();
    const [held] = watch.getSnapshot().sending;
    expect(held).to.include({ status: 'sending' });
    expect(held!.error).to.have.property('message', 'no line');
    expect(transport.requests).to.have.length(1);
    held!.retry();
    await settle();
    expect(transport.requests).to.have.length(2);
    watch.getSnapshot().sending[0]!.discard();
    expect(watch.getSnapshot().sending).to.deep.equal([]);
    expect(await run.accepted.catch((error: unknown) => error)).to.include({
      code: 'ABORTED',
      name: 'AbortError',
    });
  });

  it('puts older messages before those it has, page by page, up to the first', async () => {
    const all = Array.from({ length: 130 }, (_, n) => ({
      ...message(`m${n}`),
      parentId: n === 0 ? null : `m${n - 1}`,
    }));
    const [epoch] = at(1).split('.');
    transport.answers.history = ({ limit, before }: { limit: number; before: string }) => {
      const end = all.findIndex(({ id }) => before === `${epoch}.${id}`);
      const start = Math.max(0, end - limit);
      const cursor = start > 0 ? `${epoch}.${all[start]!.id}` : null;
      return { messages: all.slice(start, end), cursor, hasMore: start > 0 };
    };
    const watch = client.session('main').watch();
    watched(watch);
    const ids = () => watch.getSnapshot().messages.map(({ id }) => id);
    const link = (await transport.link(0))
      .connect({ main: info(5) })
      .emit(snapshot(4, { messages: all.slice(70, 120), hasMore: true }));
    await Promise.all([watch.loadEarlier(40), watch.loadEarlier(40)]);
    expect(ids()).to.deep.equal(all.slice(30, 120).map(({ id }) => id));
    expect(watch.getSnapshot().hasMore).to.equal(true);
    const kept = watch.getSnapshot().messages;
    link.emit(logged(5));
    expect(watch.getSnapshot().messages).to.equal(kept);
    await watch.loadEarlier();
    expect(ids()).to.deep.equal(all.slice(0, 120).map(({ id }) => id));
    expect(watch.getSnapshot().hasMore).to.equal(false);
    const asked = transport.requests.length;
    await watch.loadEarlier();
    expect(transport.requests).to.have.length(asked);
    // A snapshot that goes on from what is known keeps it, one that does not begins anew.
    link.emit(gap(6), snapshot(6, { messages: all.slice(100), hasMore: true }));
    expect(ids()).to.deep.equal(all.map(({ id }) => id));
    const next = { ...message('next'), parentId: 'm129' };
    link.emit(gap(7), snapshot(7, { messages: [next], tip: 'next', hasMore: true }));
    expect(ids(), 'it follows what is known').to.deep.equal([...all, next].map(({ id }) => id));
    expect(watch.getSnapshot().hasMore).to.equal(false);
    const other = { ...message('other'), parentId: 'm9' };
    link.emit(gap(8), snapshot(8, { messages: [other], tip: 'other', hasMore: true }));
    expect(ids(), 'another branch').to.deep.equal([...all.slice(0, 10), other].map(({ id }) => id));
    const unknown = { ...message('new'), parentId: 'unknown' };
    link.emit(gap(9), snapshot(9, { messages: [unknown], tip: 'new', hasMore: true }));
    expect(ids()).to.deep.equal(['new']);
    expect(watch.getSnapshot().hasMore).to.equal(true);
    transport.answers.history = { messages: [], cursor: null, hasMore: false };
    await watch.loadEarlier();
    expect(watch.getSnapshot().hasMore, 'what the gateway has lost is not asked for again').to.equal(false);
  });

  it('asks again for older messages where a snapshot came meanwhile', async () => {
    const chain = (...ids: string[]) =>
      ids.slice(1).map((id, n) => ({ ...message(id), parentId: ids[n] === '' ? null : ids[n]! }));
    const watch = client.session('main').watch();
    watched(watch);
    const link = (await transport.link(0))
      .connect({ main: info(5) })
      .emit(snapshot(4, { messages: chain('m1', 'm2'), hasMore: true }));
    transport.answers.history = ({ before }: { before: string }) => {
      if (before.endsWith('.m2')) {
        link.emit(gap(6), snapshot(6, { messages: chain('n1', 'n2'), hasMore: true }));
        return { messages: chain('', 'm0', 'm1'), cursor: null, hasMore: false };
      }
      return { messages: chain('', 'm0', 'n1'), cursor: null, hasMore: false };
    };
    await watch.loadEarlier();
    expect(watch.getSnapshot().messages.map(({ id }) => id)).to.deep.equal(['m0', 'n1', 'n2']);
  });

  it('keeps its state and tells the error when nothing more will come, and begins again when asked', async () => {
    const watch = client.session('main').watch();
    const { heard } = watched(watch);
    const link = (await transport.link(0))
      .connect({ main: info(5) })
      .emit(snapshot(4, { messages: [message('m1')] }));
    link.end(new GatewayError({ code: 'ACCESS_DENIED' }));
    expect(watch.getSnapshot()).to.deep.include({ messages: [message('m1')], status: 'error' });
    expect(watch.getSnapshot().error).to.have.property('code', 'ACCESS_DENIED');
    expect(heard).to.deep.equal(['state', 'state']);
    watch.retry();
    expect((await transport.link(1)).targets).to.deep.equal([{ sessionId: 'main', cursor: at(4) }]);
    expect(watch.getSnapshot()).to.deep.include({ status: 'ready' });
  });

  it('reports what a listener throws, and calls the others', async () => {
    const errors = uncaught();
    const watch = client.session('main').watch();
    const bug = new Error('a bug in the page');
    watch.subscribe(() => {
      throw bug;
    });
    const { heard } = watched(watch);
    const events = client.events('main', { from: 'now' });
    const link = (await transport.link(0)).connect({ main: info(5) }).emit(snapshot(4), logged(5));
    expect(heard).to.deep.equal(['state', 'state']);
    expect((await events.next()).value).to.deep.equal(logged(5));
    expect(link.closed).to.equal(false);
    expect(await errors()).to.deep.equal([bug, bug]);
  });
});
