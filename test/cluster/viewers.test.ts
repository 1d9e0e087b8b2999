import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { defineApp } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { jsonHeaders } from '../support/gateway.js';
import { type MailFate, MemoryHub } from '../support/memory-hub.js';
import { type Node, startNodes } from '../support/nodes.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { byName } from '../support/users.js';

/** Runs until it is aborted, and says so. */
function endless() {
  const aborted: string[] = [];
  const app = defineApp({
    onDisconnect: 'abort',
    async *run({ signal }) {
      yield 'begun';
      await new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push('aborted');
          reject(signal.reason);
        });
      });
    },
  });
  return { app, aborted };
}

async function start(disconnectGraceMs: number) {
  const { app, aborted } = endless();
  const nodes = await startNodes(new MemoryHub(), { app, auth: byName, limits: { disconnectGraceMs } });
  const sender = nodes[0]!.client;
  const run = sender.send('main', 'go');
  await run.accepted;
  return { nodes, sender, run, aborted };
}

/** A viewer of the session `main`, once it has seen something. */
async function view({ url }: Node): Promise<{ leave(): void }> {
  const client = closeLater(createClient({ baseUrl: url, token: 'alice' }), (it) => it.disconnect());
  let seen = false;
  void (async () => {
    for await (const _ of client.events('main', { from: 'earliest' })) seen = true;
  })().catch(() => {});
  await until(() => seen);
  return { leave: () => client.disconnect() };
}

const watching = ({ gateway }: Node): number => gateway.stats().connections.subscriptions;

describe('viewers of gateways that share a store', () => {
  it('keep a run that is to end without them, at whichever gateway they are', async () => {
    const { nodes, sender, run, aborted } = await start(30);
    const viewer = await view(nodes[1]!);
    const other = await view(nodes[2]!);
    void run.result.catch(() => {});
    sender.disconnect();
    await until(() => watching(nodes[0]!) === 0);
    other.leave();
    await until(() => watching(nodes[2]!) === 0);
    // Longer than the time that it would have ended in.
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(aborted).to.deep.equal([]);
    viewer.leave();
    await until(() => aborted.length > 0);
  });

  /** Two gateways, the first of which runs what a caller of the second waits for, once that one has heard so. */
  async function waitElsewhere(answer: (leave: () => void, nth: number) => MailFate) {
    const { app, aborted } = endless();
    const hub = new MemoryHub();
    const limits = { disconnectGraceMs: 30 };
    const nodes = await startNodes(hub, { app, auth: byName, limits }, 2);
    const [holder, other] = nodes.map(({ node }) => node.holder);
    const first = nodes[0]!.client;
    const begun = first.send('main', 'first');
    await begun.accepted;
    const abort = new AbortController();
    const leave = () => abort.abort();
    const [answered, replied] = [gate(), gate()];
    let answers = 0;
    let isDeserted = false;
    hub.mail = (from) => {
      if (from === other && isDeserted) replied.open();
      if (from !== holder) return 'come';
      answers += 1;
      const fate = answer(leave, answers);
      if (fate === 'come') answered.open();
      return fate;
    };
    fetch(`${nodes[1]!.url}/send`, {
      method: 'POST',
      headers: { ...jsonHeaders('alice'), accept: 'application/json' },
      body: JSON.stringify({ sessionId: 'main', message: 'second', onBusy: 'interrupt' }),
      signal: abort.signal,
    }).catch(() => {});
    expect((await begun.result).stopReason).to.equal('superseded');
    await answered.passed;
    isDeserted = true;
    first.disconnect();
    await until(() => watching(nodes[0]!) === 0);
    // Both runs were.
    return { leave, replied: replied.passed, ended: () => until(() => aborted.length === 2) };
  }

  it('end it when the last one leaves who waited at another gateway', async () => {
    const { leave, ended } = await waitElsewhere(() => 'come');
    leave();
    await ended();
  });

  it('end it when the last one leaves at another gateway, before it heard that its message was accepted', async () => {
    const { ended } = await waitElsewhere((leave, nth) => {
      if (nth > 1) return 'come';
      leave();
      return 'lose';
    });
    await ended();
  });

  it('end it when the last one leaves who waited where nothing was seen of it', async () => {
    const { leave, replied, ended } = await waitElsewhere((_, nth) => (nth > 1 ? 'come' : 'lose'));
    // It has said that somebody waits there.
    await replied;
    leave();
    await ended();
  });
});
