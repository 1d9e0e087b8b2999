import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { defineApp } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { jsonHeaders } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
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

  for (const [when, isHeard] of [
    ['who waited at another gateway', true],
    ['at another gateway, before it heard that its message was accepted', false],
  ] as const)
    it(`end it when the last one leaves ${when}`, async () => {
      const { app, aborted } = endless();
      const limits = { disconnectGraceMs: 30 };
      const hub = new MemoryHub();
      const nodes = await startNodes(hub, { app, auth: byName, limits }, 2);
      const first = nodes[0]!.client;
      const begun = first.send('main', 'first');
      await begun.accepted;
      const abort = new AbortController();
      const answered = gate();
      hub.mail = (from) => {
        if (from !== nodes[0]!.node.holder) return 'come';
        if (!isHeard && !abort.signal.aborted) {
          abort.abort();
          return 'lose';
        }
        answered.open();
        return 'come';
      };
      const waiting = fetch(`${nodes[1]!.url}/send`, {
        method: 'POST',
        headers: { ...jsonHeaders('alice'), accept: 'application/json' },
        body: JSON.stringify({ sessionId: 'main', message: 'second', onBusy: 'interrupt' }),
        signal: abort.signal,
      }).catch(() => {});
      expect((await begun.result).stopReason).to.equal('superseded');
      await answered.passed;
      first.disconnect();
      await until(() => watching(nodes[0]!) === 0);
      abort.abort();
      await waiting;
      // Both runs were.
      await until(() => aborted.length === 2);
    });
});
