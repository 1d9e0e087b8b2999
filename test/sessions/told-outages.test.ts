import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import { gate } from '../support/gate.js';
import { startGateway, type TestLogger } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { startNode } from '../support/nodes.js';
import { refusingStore } from '../support/refusing-store.js';
import { until } from '../support/until.js';
import { byName } from '../support/users.js';

/** Says something, and goes on at a word of the test. */
function telling() {
  const word = gate();
  const app = defineApp({
    async *run() {
      yield 'before';
      await word.passed;
      yield 'after';
    },
  });
  return { app, word };
}

const aboutAlice = { user: 'alice', scope: '[null,"alice"]', sessionId: 'main', app: 'default' };

const linesOf = (log: TestLogger, text: RegExp) => log.lines.filter(({ message }) => text.test(message));

describe('the log of a gateway', () => {
  it('says whose session the store does not take, and that it takes writes again', async () => {
    const { store, outage } = refusingStore(memoryStore(), 'append');
    const { app, word } = telling();
    const { gateway, log } = await startGateway({ app, auth: byName, store });
    const run = gateway.session('main', { user: { id: 'alice' } }).send('hello');
    await run.accepted;
    outage.on = true;
    word.open();
    await until(() => linesOf(log, /cannot write session main now/).length > 0);
    expect(linesOf(log, /takes writes again/)).to.deep.equal([]);
    outage.on = false;
    await run.result;
    const [refused, ...others] = linesOf(log, /cannot write session main now/);
    expect(others, 'once').to.deep.equal([]);
    expect(refused!.details).to.include(aboutAlice);
    const again = linesOf(log, /^the store takes writes again after \d+ s$/);
    expect(again.map(({ level }) => level)).to.deep.equal(['warn']);
  });

  it('says of a session that another gateway took whose it is, and calls it no error', async () => {
    const hub = new MemoryHub();
    const { app, word } = telling();
    const node = await startNode(hub, { app, auth: byName });
    const other = await startNode(hub, { app, auth: byName });
    const run = node.client.send('main', 'hello');
    await run.accepted;
    node.node.freeze();
    await until(() => hub.holderOf('main') === other.node.holder);
    node.node.thaw();
    await run.result;
    word.open();
    await until(() => linesOf(node.log, /another gateway has taken session main over/).length > 0);
    const [taken] = linesOf(node.log, /taken session main over/);
    expect(taken).to.include({ level: 'warn' });
    expect(taken!.details).to.include(aboutAlice);
    expect(
      node.log.lines.filter(({ level, details }) => level === 'error' && 'sessionId' in (details as object)),
    ).to.deep.equal([]);
  });
});
