import { type Client, createClient } from '../../client/index.js';
import { type Application, defineApp, type GatewayConfig } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import type { SessionState } from '../../shared/fold.js';
import { gate } from './gate.js';
import { startGateway, type TestGateway, TOKEN } from './gateway.js';
import type { HubNode, MemoryHub } from './memory-hub.js';
import { closeLater } from './resources.js';

/** A gateway of several on one hub, and a client of it. */
export interface Node extends TestGateway {
  readonly node: HubNode;
  readonly client: Client;
}

export async function startNode(
  hub: MemoryHub,
  app: Application,
  { store, limits }: Pick<GatewayConfig, 'limits'> & { readonly store?: (own: Store) => Store } = {},
): Promise<Node> {
  const node = hub.node();
  const started = await startGateway({
    app,
    store: store?.(node.store) ?? node.store,
    limits: { storeMs: 500, ...limits },
  });
  const client = closeLater(createClient({ baseUrl: started.url, token: TOKEN }), (it) => it.disconnect());
  return { ...started, node, client };
}

/** Starts gateways that share a hub. */
export async function startNodes(hub: MemoryHub, app: Application, count = 3): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  for (let i = 0; i < count; i++) nodes.push(await startNode(hub, app));
  return nodes;
}

/** The gateway that holds the session `main`, and one that does not. */
export function sides(
  hub: MemoryHub,
  nodes: readonly Node[],
): { readonly holder: Node; readonly other: Node } {
  const holder = nodes.find(({ node }) => node.holder === hub.holderOf('main'))!;
  return { holder, other: nodes.find((node) => node !== holder)! };
}

export const textOf = ({ content }: { readonly content: readonly { readonly type: string }[] }): string =>
  content.map((block) => (block as { readonly text?: string }).text ?? '').join('');

export const echo = defineApp({
  async *run({ message }) {
    yield `said ${textOf(message)}`;
  },
});

/** Says something and then waits, in whichever process it runs, until it is let go or stopped. */
export function waiting(options: { readonly resumable?: boolean } = {}) {
  const door = gate();
  const calls: string[] = [];
  const app = defineApp({
    ...options,
    async *run(turn) {
      calls.push(textOf(turn.message));
      if (!turn.resumed) yield 'begun, ';
      if (textOf(turn.message) === 'wait') {
        const stopped = new Promise<never>((_, reject) => {
          turn.signal.addEventListener('abort', () => reject(turn.signal.reason));
        });
        await Promise.race([door.passed, stopped]);
      }
      yield 'done';
    },
  });
  return { app, calls, letGo: () => door.open() };
}

/** Resolves once the state of the session is so at a gateway; never after the running test has ended. */
export async function stateOf({ client }: Node, holds: (state: SessionState) => boolean): Promise<void> {
  let isOver = false;
  closeLater(holds, () => {
    isOver = true;
  });
  while (!isOver && !holds(await client.session('main').state())) await new Promise(setImmediate);
}

export const codeOf = async (failing: Promise<unknown>): Promise<unknown> =>
  failing.then(
    () => 'done',
    (error: { readonly code?: unknown }) => error.code,
  );
