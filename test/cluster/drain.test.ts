import { expect } from 'chai';
import { type Application, defineApp, tool } from '../../server/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import type { GatewayPlugin } from '../../server/plugins/plugin.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import type { Store } from '../../server/stores/store.js';
import { textOf } from '../../shared/messages.js';
import { call, initialize, postMcp } from '../plugins/mcp/mcp-clients.js';
import { gate } from '../support/gate.js';
import { post, startGateway } from '../support/gateway.js';
import { type HeldStore, heldStore } from '../support/held-store.js';
import { MemoryHub } from '../support/memory-hub.js';
import { echo, type Node, startNode, stateOf, waiting } from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { closeLater } from '../support/resources.js';
import { postStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';

/** Long enough that nothing in these tests comes about by its end. */
const LONG = 600_000;

/** Two gateways, of which the first one drains for long. */
async function draining(app: Application): Promise<{ hub: MemoryHub; first: Node; second: Node }> {
  const hub = new MemoryHub({ leaseMs: LONG });
  const first = await startNode(hub, { app, limits: { drainMs: 20_000 } });
  return { hub, first, second: await startNode(hub, { app }) };
}

/** Asks a person, or works until it is let go. */
function asking() {
  const held = gate();
  const app = defineApp({
    resumable: true,
    async *run(turn) {
      if (turn.text === 'work') await held.passed;
      else yield `you said ${JSON.stringify(await turn.ask({ name: 'permission' }))}`;
    },
  });
  return { app, letGo: () => held.open() };
}

describe('a gateway that drains, among others on its store', () => {
  it('hands over at once what waits for a person, while something else still works there', async () => {
    const { app, letGo } = asking();
    const { hub, first, second } = await draining(app);
    await first.client.send('busy', 'work').accepted;
    await first.client.send('main', 'ask').accepted;
    await stateOf(first, ({ pending }) => pending.length === 1);
    const closed = first.gateway.close();
    await until(() => hub.holderOf('main') === second.node.holder);
    expect(hub.holderOf('busy')).to.equal(first.node.holder);
    const { pending, run } = await second.client.session('main').state();
    await second.client.session('main').respond(pending[0]!.callId, { output: 'yes' });
    const { message } = await second.client.session('main').run(run!.runId).result;
    expect(textOf(message)).to.equal('you said "yes"');
    letGo();
    await closed;
  });

  /** What was answered to a message that was sent, wherever that is told. */
  const SENDS: Readonly<Record<string, (first: Node, second: Node) => Promise<string>>> = {
    async completion({ url }) {
      const messages = [{ role: 'user', content: 'hello' }];
      const { body } = await post(`${url}/v1/chat/completions`, { model: 'default', messages });
      return body.choices?.[0].message.content ?? JSON.stringify(body);
    },
    async message({ url }, { client }) {
      const message = { sessionId: 'main', message: 'hello' };
      const { body } = await post(`${url}/send`, message, { prefer: 'respond-async' });
      expect(body.runId, JSON.stringify(body)).to.be.a('string');
      return textOf((await client.session('main').run(body.runId).result).message);
    },
  };
  for (const [name, told] of Object.entries(SENDS))
    it(`answers whoever sent a ${name} before it drained, also where the session was only being taken`, async () => {
      const hub = new MemoryHub({ leaseMs: LONG });
      const [asked, door] = [gate(), gate()];
      const store = (own: Store): Store => {
        const acquire: Store['acquire'] = async (...given) => {
          asked.open();
          await door.passed;
          return own.acquire(...given);
        };
        return overriding(own, { acquire });
      };
      const limits = { drainMs: 20_000, storeMs: 20_000 };
      const first = await startNode(hub, { app: echo, store, limits });
      first.gateway.use(chatCompletionsPlugin());
      const second = await startNode(hub, { app: echo });
      const answer = told(first, second);
      await asked.passed;
      const closed = first.gateway.close();
      // As many turns as it takes to find that nothing is left to do.
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      door.open();
      expect(await answer).to.equal('said hello');
      await closed;
    });

  /** Two gateways, of which the first one closes while a request to it waits for a note that all share. */
  async function closingWithin(
    plugin: () => GatewayPlugin,
    reads: 'records' | 'changeRecords',
    request: (nodes: { first: Node; second: Node; hold: () => void }) => Promise<() => Promise<void>>,
  ): Promise<void> {
    const hub = new MemoryHub({ leaseMs: LONG });
    const [asked, door] = [gate(), gate()];
    let isHeld = false;
    const held = async (): Promise<void> => {
      if (!isHeld) return;
      asked.open();
      await door.passed;
    };
    const store = (own: Store): Store => {
      const waiting = async (...args: readonly unknown[]) => {
        await held();
        return (own[reads] as (...args: readonly unknown[]) => unknown)(...args);
      };
      return overriding(own, { [reads]: waiting });
    };
    const app = defineApp({ run: () => 'answered', tools: { who: tool({ handler: () => 'me' }) } });
    const limits = { drainMs: 20_000, storeMs: 20_000 };
    const first = await startNode(hub, { app, auth: byName, store, limits });
    const second = await startNode(hub, { app, auth: byName });
    for (const { gateway } of [first, second]) gateway.use(plugin());
    const check = await request({ first, second, hold: () => (isHeld = true) });
    await asked.passed;
    const closed = first.gateway.close();
    // As many turns as it takes to find that nothing is left to do.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    door.open();
    await check();
    await closed;
  }

  it('answers an MCP call whose session it had to look up', () =>
    closingWithin(
      () => mcpServerPlugin({ sessionId: 'main' }),
      'records',
      async ({ first, second, hold }) => {
        // Another gateway knows it, so that the first has to look it up.
        const session = { 'mcp-session-id': await initialize(`${second.url}/mcp`) };
        hold();
        const answer = postMcp(`${first.url}/mcp`, call('who'), session);
        return async () => void expect(await (await answer).text()).to.contain('"text":"me"');
      },
    ));

  it('answers a response whose conversation it had to give what that was created with', () =>
    closingWithin(responsesPlugin, 'changeRecords', async ({ first, second, hold }) => {
      const conversations = '/v1/conversations';
      const { id } = (await post(first.url + conversations, { metadata: { topic: 'tea' } }, as('alice')))
        .body;
      hold();
      const asked = { model: 'default', input: 'hello', conversation: id };
      const answer = post(`${first.url}/v1/responses`, asked, as('alice'));
      return async () => {
        const { body } = await answer;
        expect(body.output?.[0].content[0].text, JSON.stringify(body)).to.equal('answered');
        const kept = await fetch(`${second.url}${conversations}/${id}`, { headers: as('alice') });
        expect(await kept.json()).to.deep.include({ metadata: { topic: 'tea' } });
      };
    }));

  it('goes on telling whoever follows a run there that it has handed over', async () => {
    const { app } = asking();
    const { hub, first, second } = await draining(app);
    first.gateway.use(chatCompletionsPlugin());
    const answer = post(
      `${first.url}/v1/chat/completions`,
      { model: 'default', messages: [{ role: 'user', content: 'ask' }] },
      { 'x-session-id': 'main' },
    );
    await stateOf(second, ({ pending }) => pending.length === 1);
    const closed = first.gateway.close();
    await until(() => hub.holderOf('main') === second.node.holder);
    const { pending } = await second.client.session('main').state();
    await second.client.session('main').respond(pending[0]!.callId, { output: 'yes' });
    const { body } = await answer;
    expect(body.choices?.[0].message.content, JSON.stringify(body)).to.equal('you said "yes"');
    await closed;
  });

  it('ends in good order where a session is being closed that it looks at to hand it over', async () => {
    const { app, letGo } = waiting();
    const hub = new MemoryHub({ leaseMs: LONG });
    let held!: HeldStore;
    const store = (own: Store): Store => {
      held = heldStore(own);
      return held.store;
    };
    const node = await startNode(hub, { app, store, limits: { drainMs: 20_000, storeMs: 20_000 } });
    await node.client.send('main', 'hello').result;
    held.batches.length = 0;
    await node.client.send('busy', 'wait').accepted;
    await until(() => held.batches.flat().includes('content_delta'));
    const thrown: unknown[] = [];
    const listener = (error: unknown) => thrown.push(error);
    process.on('unhandledRejection', listener);
    closeLater(listener, (it) => process.off('unhandledRejection', it));
    // One write is on its way, and the close waits behind it.
    const writing = held.hold();
    const updated = node.client.session('main').update({ title: 'a title' });
    await writing;
    const over = node.client.close('main');
    const closed = node.gateway.close();
    await new Promise((resolve) => setTimeout(resolve, 300));
    held.release();
    await Promise.all([updated, over]);
    letGo();
    await closed;
    expect(thrown).to.deep.equal([]);
  });

  it('hands over at once what only waits its turn, and lets go of what is idle', async () => {
    const { app, letGo } = waiting();
    const { hub, first, second } = await draining(app);
    await first.client.send('idle', 'hello').result;
    await first.client.send('busy', 'wait').accepted;
    const run = await first.client.send('main', 'wait').accepted;
    const next = await second.client.send('main', 'next').accepted;
    const closed = first.gateway.close();
    await until(() => hub.holderOf('idle') === '');
    await second.client.abort('main', { runId: run.runId });
    expect((await second.client.session('main').run(next.runId).result).stopReason).to.equal('end');
    expect(hub.holderOf('busy')).to.equal(first.node.holder);
    letGo();
    await closed;
  });

  it('tells nobody that a run was lost that goes on elsewhere', async () => {
    const hub = new MemoryHub({ leaseMs: LONG });
    const { app, letGo } = waiting();
    const holder = await startNode(hub, { app });
    const leaving = await startNode(hub, { app, limits: { drainMs: 50 } });
    await holder.client.send('main', 'hello').result;
    const answer = post(`${leaving.url}/send`, { sessionId: 'main', message: 'wait', idempotencyKey: 'k' });
    await stateOf(holder, ({ run }) => run !== null);
    await leaving.gateway.close();
    const { status, body } = await answer;
    expect([status, body.error?.code]).to.deep.equal([503, 'SHUTTING_DOWN']);
    letGo();
    const again = await post(`${holder.url}/send`, {
      sessionId: 'main',
      message: 'wait',
      idempotencyKey: 'k',
    });
    expect(again.body.stopReason).to.equal('end');
  });

  it('tells whoever follows a run there how it ended elsewhere', async () => {
    const { app, letGo } = waiting();
    const { hub, first, second } = await draining(app);
    await first.client.send('idle', 'hello').result;
    await second.client.send('main', 'hello').result;
    const stream = await postStream(`${first.url}/send`, { sessionId: 'main', message: 'wait' });
    await stream.until(({ event }) => event === 'content_delta');
    const closed = first.gateway.close();
    await until(() => hub.holderOf('idle') === '');
    // Some of its looks at what is left to do.
    await new Promise((resolve) => setTimeout(resolve, 300));
    letGo();
    const { data } = await stream.until(({ event }) => event === 'message_end');
    expect(data.stopReason).to.equal('end');
    await closed;
  });

  it('does not wait for a run that nobody is left to go on with', async () => {
    const { app } = waiting();
    const hub = new MemoryHub({ leaseMs: LONG });
    const node = await startNode(hub, { app, limits: { drainMs: 20_000 } });
    const { runId } = await node.client.send('main', 'wait').accepted;
    const stream = await postStream(`${node.url}/send`, { sessionId: 'main', message: 'next' });
    const closed = node.gateway.close();
    await node.client.abort('main', { runId }).catch(() => {});
    await Promise.all([closed, stream.ended]);
    expect(stream.events.map(({ event }) => event)).to.not.contain('message_end');
  });

  it('finds one that has the app, whichever it asks first', async () => {
    const hub = new MemoryHub({ leaseMs: LONG });
    const { app, letGo } = waiting({ resumable: true });
    const first = await startNode(hub, { app, limits: { drainMs: 0 } });
    const names = Array.from({ length: 8 }, (_, n) => `s${n}`);
    for (const name of names) await first.client.send(name, 'wait').accepted;
    await startGateway({ apps: { other: echo }, defaultApp: 'other', store: hub.node().store });
    const last = await startNode(hub, { app });
    await first.gateway.close();
    await until(() => names.every((name) => hub.holderOf(name) === last.node.holder));
    letGo();
    for (const name of names) {
      const events = last.client.events(name, { from: 'earliest' });
      for await (const event of events) {
        if (event.type !== 'message_end') continue;
        expect(event.stopReason).to.equal('end');
        break;
      }
    }
  });
});
