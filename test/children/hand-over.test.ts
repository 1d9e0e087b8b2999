import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { type Application, createInProcessTransport, defineApp, type Turn } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { type Gate, gate } from '../support/gate.js';
import { MemoryHub } from '../support/memory-hub.js';
import { startNode, stateOf } from '../support/nodes.js';
import { closeLater } from '../support/resources.js';
import { userNamed } from '../support/users.js';

const app = (run: (turn: Turn) => unknown): Application => defineApp({ resumable: true, run: run as never });

/** Apps of a tree that is three deep, whose leaf is held, and the names of what began where. */
function tree(held: Gate, begun: string[], at: string): Readonly<Record<string, Application>> {
  const note = (name: string, turn: Turn): void => {
    begun.push(`${name}${turn.resumed ? ' again' : ''} at ${at}`);
  };
  return {
    main: app(async (turn) => {
      note('main', turn);
      const { text } = await turn.spawn('middle', { message: 'x', id: 'm' }).result;
      return `main of ${text}`;
    }),
    middle: app(async (turn) => {
      note('middle', turn);
      const leaf = turn.spawn('leaf', { message: 'x', id: 'l' });
      turn.spawn('free', { message: 'x', id: 'f', detached: true });
      return `middle of ${(await leaf.result).text}`;
    }),
    leaf: app(async (turn) => {
      note('leaf', turn);
      const made = await turn.step('made', () => {
        begun.push(`step at ${at}`);
        return 'leaf';
      });
      await held.passed;
      return made;
    }),
    free: app(async (turn) => {
      note('free', turn);
      await held.passed;
      return 'free';
    }),
  };
}

describe('a tree of runs', () => {
  it('goes on whole at another gateway when its own one ends', async () => {
    const hub = new MemoryHub({ leaseMs: 600_000 });
    const begun: string[] = [];
    const [here, there] = [gate(), gate()];
    const config = { defaultApp: 'main', limits: { drainMs: 0 } };
    const first = await startNode(hub, { ...config, apps: tree(here, begun, 'a') });
    const second = await startNode(hub, { ...config, apps: tree(there, begun, 'b') });
    const sent = first.client.send('main', 'go');
    const { runId } = await sent.accepted;
    await stateOf(first, ({ lanes = [] }) => lanes.length === 3 && begun.includes('step at a'));
    const watched = second.client.session('main').run(runId).result;
    await first.gateway.close();
    await stateOf(second, ({ lanes = [] }) => lanes.length === 3 && begun.includes('leaf again at b'));
    there.open();
    const { message } = await watched;
    expect(textOf(message)).to.equal('main of middle of leaf');
    await stateOf(second, ({ lanes, run }) => !lanes && !run);
    const state = await second.client.session('main').state();
    const children = state.messages.at(-1)!.children!.map(({ name, stopReason }) => `${name} ${stopReason}`);
    expect(children).to.include.members(['m end', 'l end']);
    expect([...begun].sort()).to.deep.equal([
      ...['free again at b', 'free at a', 'leaf again at b', 'leaf at a', 'main again at b', 'main at a'],
      ...['middle again at b', 'middle at a', 'step at a'],
    ]);
  });

  it('has one run in a lane of its own for a key that comes to two gateways at once', async () => {
    const hub = new MemoryHub({ leaseMs: 600_000 });
    const apps = { main: app(async (turn) => turn.text) };
    // In process, so that both look for the key before either has it.
    const clientOf = async () => {
      const { gateway } = await startNode(hub, { apps, defaultApp: 'main' });
      const transport = createInProcessTransport(gateway, { user: userNamed('ann') });
      return closeLater(createClient({ transport }), (client) => client.disconnect());
    };
    const clients = [await clientOf(), await clientOf()];
    await clients[0]!.send('main', 'first').result;
    for (const [idempotencyKey, message] of [
      ['k', 'x'],
      ['with-id', { id: 'm', content: 'y' }],
    ] as const) {
      const all = clients
        .toReversed()
        .map((client) => client.send('main', message, { lane: 'new', idempotencyKey }));
      const runIds = (await Promise.all(all.map(({ result }) => result))).map(({ runId }) => runId);
      expect(new Set(runIds).size).to.equal(1);
    }
    const { messages, lanes } = await clients[1]!.session('main').state();
    expect(messages.map(textOf)).to.deep.equal(['first', 'first', 'x', 'x', 'y', 'y']);
    expect(lanes).to.equal(undefined);
  });

  it('is steered and aborted from another gateway', async () => {
    const hub = new MemoryHub({ leaseMs: 600_000 });
    const apps = {
      main: app(async (turn) => {
        const child = turn.spawn('child', { message: 'x', id: 'c' });
        const stuck = turn.spawn('stuck', { message: 'x', id: 's' });
        return `${(await child.result).text}, ${(await stuck.result).stopReason}`;
      }),
      child: app(async (turn) => {
        const heard: string[] = [];
        for (; heard.at(-1) !== 'end'; await new Promise(setImmediate))
          heard.push(...turn.steered().map(textOf));
        return heard.join(' ');
      }),
      stuck: app(() => new Promise(() => {})),
    };
    const first = await startNode(hub, { apps, defaultApp: 'main' });
    const second = await startNode(hub, { apps, defaultApp: 'main' });
    const sent = first.client.send('main', 'go');
    await stateOf(second, ({ lanes = [] }) => lanes.length === 2);
    const { lanes } = await second.client.session('main').state();
    const idOf = (name: string): string => lanes!.find((lane) => lane.name === name)!.runId;
    const steer = { sessionId: 'main', runId: idOf('c'), message: { id: 'once', content: 'left' } };
    // Sent again, as after an answer that was lost.
    for (const gateway of [second.gateway, first.gateway, second.gateway])
      await gateway.execute('steer', steer);
    await second.gateway.execute('steer', { ...steer, message: { id: 'last', content: 'end' } });
    expect(await second.client.session('main').abort({ runId: idOf('s') })).to.deep.equal({ aborted: true });
    const { message } = await sent.result;
    expect(textOf(message)).to.equal('left end, aborted');
    await stateOf(second, ({ run }) => !run);
    const state = await second.client.session('main').state();
    const child = state.messages.at(-1)!.children!.find(({ name }) => name === 'c')!;
    expect(child.steering!.map(({ id, taken }) => [id, taken])).to.deep.equal([
      ['once', true],
      ['last', true],
    ]);
  });
});
