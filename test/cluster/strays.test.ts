import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { newTestEpoch } from '../../testing/stores/records.js';
import { MemoryHub } from '../support/memory-hub.js';
import { startNodes } from '../support/nodes.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { byName } from '../support/users.js';

/** What gateways do every so often, in milliseconds. */
const SWEEP_MS = 30_000;
const USER = { id: 'alice' };

/** Two gateways whose sweeps a test begins. */
async function swept() {
  const clock = FakeTimers.install({ toFake: ['setInterval', 'clearInterval'] });
  closeLater(clock, (it) => it.uninstall());
  // So long that only the sweep comes.
  const hub = new MemoryHub({ leaseMs: 10 * SWEEP_MS });
  const nodes = await startNodes(hub, { app: defineApp({ run: () => 'heard' }), auth: byName }, 2);
  const [a, b] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const failures: string[] = [];
  a.gateway.on('error', ({ error }) => failures.push(String(error)));
  const held = async (by?: string): Promise<string[]> => {
    const lines: string[] = [];
    for await (const { sessionId, scope, holder, alive } of b.gateway.held(by === undefined ? {} : { by }))
      lines.push(`${sessionId} of ${scope} at ${holder}, ${alive ? 'alive' : 'dead'}`);
    return lines.sort();
  };
  return { clock, a, b, failures, held };
}

describe('sessions that gateways hold', () => {
  it('are listed with their holders, by all gateways or one', async () => {
    const { a, b, held } = await swept();
    await a.gateway.session('one', { user: USER }).send('hello').result;
    await b.gateway.session('two', { user: USER }).send('hello').result;
    const [one, two] = [a, b].map(
      ({ node }, i) => `${['one', 'two'][i]} of alice at ${node.holder}, alive`,
    ) as [string, string];
    expect((await held()).map((line) => line.replace(/ of .* at /, ' of alice at '))).to.deep.equal([
      one,
      two,
    ]);
    expect(await held(a.gateway.id)).to.have.length(1);
    expect(await held(b.node.holder)).to.have.length(1);
    expect(await held('gw_never')).to.deep.equal([]);
    a.node.kill();
    expect((await held(a.node.holder))[0]).to.match(/^one of .* dead$/);
  });

  it('and that the gateway does not know are said in its log and counted, and are taken up', async () => {
    const { clock, a, b, failures } = await swept();
    await a.gateway.session('known', { user: USER }).send('hello').result;
    // As where a gateway has forgotten that it took one.
    const [known] = await b.node.store.shared!.held({ limit: 1 });
    const ref = { scope: known!.scope, app: known!.app, name: 'lost' };
    await a.node.store.acquire(ref, { holder: a.node.holder, create: { epoch: newTestEpoch() } });
    const termOf = async (): Promise<number | undefined> => (await a.node.store.head(ref))?.term;
    const stolen = await termOf();
    clock.tick(SWEEP_MS);
    await new Promise(setImmediate);
    expect([a.gateway.stats().sessions.stray, failures.length], 'it may be on its way').to.deep.equal([0, 0]);
    clock.tick(SWEEP_MS);
    await until(async () => (await termOf()) !== stolen);
    expect(a.gateway.stats().sessions).to.include({ stray: 1, held: 2 });
    expect(failures).to.have.length(1);
    expect(failures[0]).to.match(/does not hold/);
    expect(await b.gateway.session('lost', { user: USER }).send('again').result).to.include({
      stopReason: 'end',
    });
    clock.tick(SWEEP_MS);
    await until(() => a.gateway.stats().sessions.stray === 0);
    expect(failures).to.have.length(1);
  });
});
