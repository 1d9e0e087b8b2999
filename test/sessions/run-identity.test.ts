import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import {
  createGateway,
  createInProcessTransport,
  defineApp,
  type Gateway,
  getContext,
  type Store,
  type Turn,
  tool,
} from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';

type Probe = { readonly place: string; readonly text: string; readonly as: string };

/** Says as whom code runs: a name where it is inside somebody's call, `nobody` where it is in none. */
function whoAmI(): string {
  try {
    return getContext().user!.id;
  } catch {
    return 'nobody';
  }
}

/** A gateway of many users whose app notes, wherever its code runs, as whom it does. */
function gatewayOf(run: (turn: Turn, note: (place: string) => void) => unknown, store?: Store) {
  const seen: Probe[] = [];
  const app = defineApp({
    resumable: true,
    tools: {
      act: tool({ confirm: true, handler: () => seen.push({ place: 'tool', text: '', as: whoAmI() }) }),
    },
    run: (turn) => run(turn as Turn, (place) => seen.push({ place, text: turn.text, as: whoAmI() })) as never,
  });
  const bob = (): ReturnType<Gateway['session']> => gateway.session('main', { user: { id: 'bob' } });
  const gateway: Gateway<any, any, any> = createGateway({
    app,
    embedded: true,
    logger: new TestLogger(),
    ...(store && { store }),
    limits: { drainMs: 20 },
    auth: { type: 'custom', validate: (token) => ({ valid: true, user: { id: token ?? 'nobody' } }) },
    methods: {
      remind: async () => void (await bob().send('reminder').accepted),
      stop: async () => void (await bob().abort()),
      approve: async ({ callId }: { callId: string }) =>
        void (await bob().respond(callId, { approved: true })),
      look: async () => void (await bob().status()),
      say: async () => getContext().emit('said', null),
    },
  });
  closeLater(gateway, (it) => it.close());
  const invoke = async (user: string, method: string, params?: object): Promise<void> => {
    const response = await gateway.fetch(
      new Request('http://gateway.test/invoke', {
        method: 'POST',
        headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json' },
        body: JSON.stringify({ method, params }),
      }),
    );
    expect(response.status).to.equal(204);
  };
  return { gateway, seen, bob, invoke };
}

describe('the code of an app runs as nobody’s call', () => {
  it('in a run that starts when a run ends which a method of somebody else began', async () => {
    const first = gate();
    const { seen, bob, invoke } = gatewayOf(async (turn, note) => {
      note('run');
      if (turn.text === 'reminder') await first.passed;
      note('later');
    });
    await invoke('admin', 'remind');
    const mine = bob().send('my salary is 5');
    await mine.accepted;
    first.open();
    await mine.result;
    expect(seen.map(({ as }) => as)).to.deep.equal(['nobody', 'nobody', 'nobody', 'nobody']);
  });

  it('in a run that a method sends the message of', async () => {
    const { seen, bob, invoke } = gatewayOf((_turn, note) => note('run'));
    await invoke('admin', 'remind');
    await bob().send('next').result;
    expect(seen).to.deep.equal([
      { place: 'run', text: 'reminder', as: 'nobody' },
      { place: 'run', text: 'next', as: 'nobody' },
    ]);
  });

  it('where a method of somebody else ends the run', async () => {
    const started = gate();
    const { seen, bob, invoke } = gatewayOf(async function* (turn, note) {
      turn.signal.addEventListener('abort', () => note('abort listener'));
      try {
        yield 'x';
        started.open();
        yield await new Promise<string>((resolve) =>
          turn.signal.addEventListener('abort', () => resolve('')),
        );
      } finally {
        note('finally');
      }
    });
    const run = bob().send('go');
    await started.passed;
    await invoke('admin', 'stop');
    await run.result;
    expect(seen).to.deep.include({ place: 'abort listener', text: 'go', as: 'nobody' });
    expect(seen.filter(({ as }) => as !== 'nobody')).to.deep.equal([]);
  });

  it('where a method of somebody else answers its question', async () => {
    const { seen, bob, invoke } = gatewayOf(async (turn, note) => {
      await turn.callTool('act' as never, {} as never);
      note('answered');
    });
    const run = bob().send('go');
    for await (const event of run) {
      if (event.type === 'tool_confirmation_required')
        await invoke('admin', 'approve', { callId: event.callId });
    }
    expect(seen).to.deep.equal([
      { place: 'tool', text: '', as: 'nobody' },
      { place: 'answered', text: 'go', as: 'nobody' },
    ]);
  });

  it('in runs that a restart left, whoever opens their session', async () => {
    const path = newDatabase();
    const before = gatewayOf(() => new Promise(() => {}), sqliteStore({ path }));
    await before.bob().send('left').accepted;
    await before.bob().send('queued').accepted;
    await before.gateway.close();
    const after = gatewayOf((_turn, note) => note('run'), sqliteStore({ path }));
    const ended = gate();
    let ends = 0;
    after.gateway.on('run:ended', () => {
      if (++ends === 2) ended.open();
    });
    await after.invoke('admin', 'look');
    await ended.passed;
    expect(after.seen).to.deep.equal([
      { place: 'run', text: 'left', as: 'nobody' },
      { place: 'run', text: 'queued', as: 'nobody' },
    ]);
  });

  it('in listeners of the gateway, and in clients of this process', async () => {
    const heard: string[] = [];
    const { gateway, bob, invoke } = gatewayOf(() => 'x');
    for (const event of ['custom', 'run:started', 'run:ended', 'session:created'] as const)
      gateway.on(event, () => heard.push(`${event} ${whoAmI()}`));
    const client = createClient({ transport: createInProcessTransport(gateway, { user: { id: 'bob' } }) });
    closeLater(client, (it) => it.disconnect());
    const watch = client.session('main').watch();
    watch.subscribe(() => heard.push(`watch ${whoAmI()}`));
    await invoke('admin', 'say');
    await invoke('admin', 'remind');
    await bob().send('x').result;
    expect([...new Set(heard)].sort()).to.deep.equal([
      'custom nobody',
      'run:ended nobody',
      'run:started nobody',
      'session:created nobody',
      'watch nobody',
    ]);
  });

  it('and keeps the host’s own context of the moment its message was accepted', async () => {
    const trace = new AsyncLocalStorage<string>();
    const first = gate();
    const seen: [string, string | undefined][] = [];
    const { bob } = gatewayOf(async (turn) => {
      seen.push([turn.text, trace.getStore()]);
      if (turn.text === 'a') await first.passed;
    });
    const send = (text: string) => trace.run(`trace of ${text}`, () => bob().send(text));
    const a = send('a');
    await a.accepted;
    const b = send('b');
    await b.accepted;
    trace.run('somebody else', () => first.open());
    await b.result;
    expect(seen).to.deep.equal([
      ['a', 'trace of a'],
      ['b', 'trace of b'],
    ]);
  });
});
