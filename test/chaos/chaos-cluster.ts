import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChaosNode } from './chaos-node.js';
import type { Closing } from './closing.js';
import type { AppCall } from './history.js';
import type { StartStore, StoreUnderTest } from './stores/store-under-test.js';

/** Short, so that what a lease decides is seen soon, and longer than a busy machine leaves a gateway waiting: no lease ends unless a test has it. */
export const LEASE_MS = 3000;

/** Three gateways on one store, each a process of its own, and a balancer in front that knows nothing of sessions. */
export class ChaosCluster {
  readonly nodes: readonly ChaosNode[];
  readonly store: StoreUnderTest;
  /** Where each connection leads to any of the gateways. */
  readonly url: string;
  readonly #callsFile: string;
  readonly #closing: Closing;

  private constructor(
    parts: Pick<ChaosCluster, 'nodes' | 'store' | 'url'>,
    callsFile: string,
    closing: Closing,
  ) {
    this.nodes = parts.nodes;
    this.store = parts.store;
    this.url = parts.url;
    this.#callsFile = callsFile;
    this.#closing = closing;
  }

  /** Starts the store and the gateways. Whoever started them closes them, also where this rejects. */
  static async start(
    { under, random, closing }: { under: StartStore; random: () => number; closing: Closing },
    { count = 3, leaseMs = LEASE_MS } = {},
  ): Promise<ChaosCluster> {
    const directory = closing.add(mkdtempSync(join(tmpdir(), 'chaos-')), (path) =>
      rmSync(path, { recursive: true, force: true }),
    );
    const store = await under({ directory, leaseMs });
    closing.add(store, (it) => it.remove());
    await store.start();
    const callsFile = `${directory}/calls.ndjson`;
    const nodes = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        ChaosNode.start({ name: `node-${n + 1}`, store, leaseMs, callsFile, closing }),
      ),
    );
    const url = await balance(nodes, random, closing);
    return new ChaosCluster({ nodes, store, url }, callsFile, closing);
  }

  /** Ends all of it. */
  close(): Promise<void> {
    return this.#closing.close();
  }

  /** The gateway that ran the last run of a session, and so holds it, unless it moved. */
  holderOf(sessionId: string): ChaosNode {
    const name = this.calls().findLast((call) => call.sessionId === sessionId)?.node;
    return this.nodes.find((node) => node.name === name) ?? this.nodes[0]!;
  }

  /** What the apps have noted. */
  calls(): readonly AppCall[] {
    try {
      const lines = readFileSync(this.#callsFile, 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line));
    } catch {
      return [];
    }
  }

  /** Mends everything: whoever is down is started, whatever is broken is whole. */
  async calm(): Promise<void> {
    for (const { front, back } of this.nodes) {
      for (const line of [front, back]) {
        line.delayMs = 0;
        line.set('open');
      }
    }
    for (const node of this.nodes) if (node.frozen) node.thaw();
    if (!this.store.up) await this.store.start();
    await Promise.all(this.nodes.map((node) => (node.up ? null : node.start())));
  }
}

/** A TCP balancer: each connection to any gateway that takes it. */
async function balance(nodes: readonly ChaosNode[], random: () => number, closing: Closing): Promise<string> {
  const server = createServer((near) => {
    const { front } = nodes[Math.floor(random() * nodes.length)]!;
    const far = connect(front.port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.add(server, () => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
