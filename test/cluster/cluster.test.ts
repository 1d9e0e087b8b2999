import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { post, startGateway } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import {
  codeOf,
  echo,
  type Node,
  sides,
  startBusy,
  startNode,
  startNodes,
  stateOf,
  waiting,
} from '../support/nodes.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

describe('gateways that share a store', () => {
  it('do what is asked of one that does not hold the session: abort, answer, change, close', async () => {
    const { nodes, run, holder, other } = await startBusy();
    expect(holder).to.equal(nodes[0]);
    const main = other.client.session('main');
    expect(await main.abort()).to.deep.equal({ aborted: true });
    expect((await run.result).stopReason).to.equal('aborted');
    expect(await main.abort(), 'nothing runs').to.deep.equal({ aborted: false });
    await main.update({ title: 'Elsewhere' });
    expect((await holder.client.session('main').state()).title).to.equal('Elsewhere');
    await main.close();
    expect(await codeOf(holder.client.session('main').close())).to.equal('SESSION_NOT_FOUND');
    expect(await codeOf(main.close())).to.equal('SESSION_NOT_FOUND');
  });

  it('let a person answer at any of them', async () => {
    const hub = new MemoryHub();
    const app = defineApp({
      async *run(turn) {
        const output = await turn.ask({ name: 'permission', payload: null });
        yield `you said ${JSON.stringify(output)}`;
      },
    });
    const nodes = await startNodes(hub, { app });
    const run = nodes[0]!.client.send('main', 'go');
    const { other } = sides(hub, nodes);
    for await (const event of (other ?? nodes[1]!).client.events('main', { from: 'earliest' })) {
      if (event.type !== 'input_required') continue;
      await nodes[2]!.client.session('main').respond(event.callId, { output: 'yes' });
      break;
    }
    expect(textOf((await run.result).message)).to.equal('you said "yes"');
  });

  it('start one run for a message that is sent to all of them under one key', async () => {
    const hub = new MemoryHub();
    const { app, calls } = waiting();
    const nodes = await startNodes(hub, { app });
    const results = await Promise.all(
      nodes.map(
        ({ client }) => client.send('main', { id: 'own', content: 'hello' }, { idempotencyKey: 'k1' }).result,
      ),
    );
    expect(new Set(results.map(({ runId }) => runId)).size).to.equal(1);
    expect(calls).to.deep.equal(['hello']);
  });

  it('do once what is asked again because mail was lost', async () => {
    const hub = new MemoryHub();
    const { app, calls } = waiting();
    const nodes = await startNodes(hub, { app });
    await nodes[0]!.client.send('main', 'first').result;
    const { holder, other } = sides(hub, nodes);
    let lost = 0;
    // The answer is lost once: it was done and nobody was told.
    hub.mail = (from) => (from === holder.node.holder && lost++ === 0 ? 'lose' : 'come');
    await other.client.send('main', 'second').result;
    expect(lost).to.be.at.least(2);
    expect(calls).to.deep.equal(['first', 'second']);
  });

  for (const end of ['close', 'delete'] as const)
    it(`have done a ${end} whose answer was lost: there is nothing left to be asked again`, async () => {
      const hub = new MemoryHub();
      const nodes = await startNodes(hub, { app: echo });
      await nodes[0]!.client.send('main', 'first').result;
      const { holder, other } = sides(hub, nodes);
      let lost = 0;
      hub.mail = (from) => (from === holder.node.holder && lost++ === 0 ? 'lose' : 'come');
      await other.client.session('main')[end]();
      expect(lost).to.be.at.least(1);
      const { status } = await post(`${other.url}/close`, { sessionId: 'main' });
      expect(status, 'it is gone').to.equal(404);
    });

  it('list sessions by when they were used by the clock of the store', async () => {
    const hub = new MemoryHub();
    const [right, slow] = await startNodes(hub, { app: echo }, 2);
    // The second one's own clock is ten minutes behind.
    const clock = FakeTimers.install({ toFake: ['Date'] });
    closeLater(clock, (it) => it.uninstall());
    const use = async (node: Node, name: string, offMs: number): Promise<void> => {
      clock.setSystemTime(Date.now() + 1000 + offMs);
      Object.assign(node.node.store.shared!, { skewMs: -offMs });
      await node.gateway.session(name, { anonymous: true }).send('hello').result;
      clock.setSystemTime(Date.now() - offMs);
    };
    await use(right!, 'a', 0);
    await use(slow!, 'b', -600_000);
    await use(right!, 'c', 0);
    await use(slow!, 'd', -600_000);
    const { sessions } = await right!.gateway.sessions({ anonymous: true });
    expect(sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['d', 'c', 'b', 'a']);
  });

  it('say after a while that the one that holds a session does not answer, and nothing was done', async () => {
    const hub = new MemoryHub();
    const nodes = await startNodes(hub, { app: echo }, 2);
    await nodes[0]!.client.send('main', 'one').result;
    const { other } = sides(hub, nodes);
    hub.mail = () => 'lose';
    const { status, body, headers } = await post(`${other.url}/send`, { sessionId: 'main', message: 'two' });
    expect([status, body.error.code]).to.deep.equal([503, 'OVERLOADED']);
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
  });

  describe('when the one that holds a session dies', () => {
    it('run a message once that it took in and never said so', async () => {
      const { hub, holder, other, calls } = await startBusy();
      hub.mail = (from) => (from === holder.node.holder ? 'lose' : 'come');
      const sent = other.client.send('main', 'next').result;
      await stateOf(other, ({ queue }) => queue.length === 1);
      holder.node.kill();
      expect((await sent).stopReason).to.equal('end');
      expect(calls).to.deep.equal(['wait', 'next']);
      const { messages } = await other.client.session('main').state();
      expect(messages.map(textOf).filter((text) => text === 'next')).to.have.length(1);
    });

    it('leave what they have no app for to one that has', async () => {
      const hub = new MemoryHub();
      const { app, letGo } = waiting({ resumable: true });
      const first = await startNode(hub, { app });
      const run = first.client.send('main', 'wait');
      const { runId } = await run.accepted;
      const node = hub.node();
      const other = await startGateway({ apps: { other: echo }, defaultApp: 'other', store: node.store });
      first.node.kill();
      // It looks for orphans some times.
      const looked = hub.looks;
      await until(() => hub.looks > looked + 5);
      expect(hub.holderOf('main')).to.equal(first.node.holder);
      expect(other.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
      const last = await startNode(hub, { app });
      letGo();
      expect((await last.client.session('main').run(runId).result).stopReason).to.equal('end');
    });

    it('take an idle session with the next message', async () => {
      const hub = new MemoryHub();
      const nodes = await startNodes(hub, { app: echo });
      await nodes[0]!.client.send('main', 'one').result;
      const { holder, other } = sides(hub, nodes);
      holder.node.kill();
      expect(textOf((await other.client.send('main', 'two').result).message)).to.equal('said two');
    });
  });
});
