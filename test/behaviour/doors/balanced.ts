import { type ClientTransport, webSocketTransport } from '../../../client/index.js';
import { createGateway, createInProcessTransport, type GatewayConfig } from '../../../server/index.js';
import { Balancer } from '../../support/balancer.js';
import { SEED } from '../../support/fuzz.js';
import { TestLogger } from '../../support/gateway.js';
import { MemoryHub } from '../../support/memory-hub.js';
import { randomOf } from '../../support/random.js';
import { closeLater } from '../../support/resources.js';
import { userNamed } from '../../support/users.js';
import { clientsOf, type Door, type OpenDoor, settings, type Way } from './door.js';
import { cuttableTransport, NodeWebSocket } from './own.js';

const COUNT = 3;

/** Gateways on one store, as a client sees them that comes to another one each time. */
async function startAll(config: GatewayConfig) {
  const hub = new MemoryHub();
  const log = new TestLogger();
  const gateways = Array.from({ length: COUNT }, () =>
    closeLater(createGateway(settings({ ...config, store: hub.node().store }, log)), (it) => it.close()),
  );
  const urls: string[] = [];
  for (const gateway of gateways) urls.push((await gateway.start()).url!);
  const close = async (): Promise<void> => {
    await Promise.all(gateways.map((gateway) => gateway.close()));
  };
  return { gateways, urls, open: (way: Way): OpenDoor => ({ log, close, ...clientsOf(way) }) };
}

function balanced(name: string, transport?: (baseUrl: string, user: string) => ClientTransport): Door {
  return {
    name: `three gateways, ${name}, seed ${SEED}`,
    takesTokens: true,
    async open(config) {
      const { urls, open } = await startAll(config);
      const { url: baseUrl, ...balancer } = await behind(urls);
      const make = transport && { transport: (user: string) => transport(baseUrl, user) };
      return open({ baseUrl, ...balancer, ...make });
    },
  };
}

async function behind(urls: readonly string[]): Promise<{ readonly url: string; readonly cut: () => void }> {
  const balancer = await Balancer.start(urls, SEED);
  return { url: balancer.url, cut: () => balancer.cutAll() };
}

export const balancedSse = balanced('SSE');
export const balancedWebSocket = balanced('WebSocket', (baseUrl, token) =>
  webSocketTransport({ baseUrl, token, WebSocket: NodeWebSocket }),
);

/** Every call and every link goes to another one. */
export const balancedInProcess: Door = {
  name: `three gateways, in process, seed ${SEED}`,
  takesTokens: false,
  async open(config) {
    const { gateways, open } = await startAll(config);
    const random = randomOf(SEED);
    const cuts = new Set<() => void>();
    const transport = (user: string): ClientTransport => {
      const all = gateways.map((gateway) => createInProcessTransport(gateway, { user: userNamed(user) }));
      const any = (): ClientTransport => all[Math.floor(random() * all.length)]!;
      return cuttableTransport(
        {
          name: all[0]!.name,
          request: (...args) => any().request(...args),
          stream: (...args) => any().stream(...args),
          open: (...args) => any().open(...args),
          close: () => {
            for (const each of all) each.close();
          },
        },
        cuts,
      );
    };
    const cut = (): void => {
      for (const now of [...cuts]) now();
    };
    return open({ cut, transport });
  },
};
