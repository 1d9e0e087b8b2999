import { expect } from 'chai';
import { type Client, createClient, initialState, reduce } from '../../client/index.js';
import { GatewayError } from '../../shared/errors.js';
import { at, gap, info, logged, ScriptedTransport, settle, snapshot } from './scripted.js';

describe('client watch', () => {
  let transport: ScriptedTransport;
  let client: Client;

  beforeEach(() => {
    transport = new ScriptedTransport();
    client = createClient({ transport });
  });
  afterEach(() => client.disconnect());

  const message = {
    id: 'm1',
    role: 'user',
    content: [{ type: 'text', text: 'Hello' }],
    createdAt: 1,
  } as const;
  const acceptedEvent = (seq: number, key: string) =>
    logged(seq, 'message_accepted', { runId: 'r1', message, key, onBusy: 'queue', position: 0 });

  it('starts with the snapshot of the gateway and folds what follows', async () => {
    const watch = client.session('main').watch();
    const views: unknown[] = [];
    watch.subscribe(() => views.push(watch.getSnapshot()));
    const link = await transport.link(0);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', from: 'snapshot' }]);
    const first = snapshot(4, { messages: [message] });
    link.connect({ main: info(5) }).emit(first, logged(5, 'session_closed', { reason: 'x' }));
    expect(views).to.have.length(2);
    expect(watch.getSnapshot()).to.deep.equal({
      ...reduce(reduce(initialState, first), logged(5, 'session_closed', { reason: 'x' })),
      sending: [],
    });
  });

  it('returns the same object until something changes', async () => {
    const watch = client.session('main').watch();
    const before = watch.getSnapshot();
    expect(watch.getSnapshot()).to.equal(before);
    const link = (await transport.link(0)).connect({ main: info(5) }).emit(snapshot(4));
    const after = watch.getSnapshot();
    expect(after).not.to.equal(before);
    link.emit({ type: 'heartbeat' });
    expect(watch.getSnapshot()).to.equal(after);
  });

  it('resumes from a state that a server rendered', async () => {
    const state = { ...initialState, cursor: at(7), messages: [message] };
    const watch = client.session('main').watch({ from: state });
    expect(watch.getSnapshot()).to.deep.equal({ ...state, sending: [] });
    const link = await transport.link(0);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', cursor: at(7) }]);
    link.connect({ main: info(8, { resume: 'exact' }) }).emit(logged(8));
    expect(watch.getSnapshot().cursor).to.equal(at(8));
    link.emit(gap(0), snapshot(20, { messages: [] }));
    expect(watch.getSnapshot().messages).to.deep.equal([]);
  });

  it('shows sends until the session does, in one step and in every watch', async () => {
    const session = client.session('main');
    transport.answers.send = { runId: 'r1', message, position: 0, cursor: at(0) };
    const watches = [session.watch(), session.watch()];
    const link = (await transport.link(0)).connect({ main: info(1, { epoch: null, head: 0 }) });
    for (const watch of watches) {
      watch.subscribe(() => {
        const { sending, queue } = watch.getSnapshot();
        expect(sending.length + queue.length).to.equal(1);
      });
    }
    const run = session.send('Hello');
    const [first] = watches[0]!.getSnapshot().sending;
    expect(first).to.deep.include({ key: run.idempotencyKey });
    expect(first!.message).to.deep.include({
      id: run.idempotencyKey,
      role: 'user',
      content: message.content,
    });
    await run.accepted;
    expect(watches[0]!.getSnapshot().sending).to.have.length(1);
    await transport.until(() => link.changes.length);
    link.subscribed(info(1, { resume: 'exact' })).emit(acceptedEvent(1, run.idempotencyKey));
    await settle();
    for (const watch of watches) expect(watch.getSnapshot().queue).to.have.length(1);
    expect(session.watch().getSnapshot().sending).to.deep.equal([]);
  });

  it('withdraws a send that was refused', async () => {
    transport.answers.send = new GatewayError({ code: 'SESSION_BUSY' });
    const watch = client.session('main').watch();
    const run = client.send('main', { id: 'mine', content: 'Hello' });
    expect(watch.getSnapshot().sending[0]!.message.id).to.equal('mine');
    await run.result.catch(() => {});
    await settle();
    expect(watch.getSnapshot().sending).to.deep.equal([]);
  });

  it('keeps its state and tells the error when nothing more will come', async () => {
    const watch = client.session('main').watch();
    let changes = 0;
    const stop = watch.subscribe(() => changes++);
    const link = (await transport.link(0))
      .connect({ main: info(5) })
      .emit(snapshot(4, { messages: [message] }));
    link.end(new GatewayError({ code: 'ACCESS_DENIED' }));
    expect(watch.getSnapshot()).to.deep.include({ messages: [message] });
    expect(watch.getSnapshot().error).to.have.property('code', 'ACCESS_DENIED');
    expect(changes).to.equal(2);
    stop();
  });

  it('hears no more when closed', async () => {
    const watch = client.session('main').watch();
    const link = (await transport.link(0)).connect({ main: info(1) });
    const before = watch.getSnapshot();
    watch.close();
    link.emit(logged(1));
    expect(watch.getSnapshot()).to.equal(before);
  });
});
