import { type TestClient, testGateway } from '../../testing/index.js';
import { closeLater } from '../support/resources.js';
import { type Gateways, shareLinks, streaming } from './control-life.js';

/** One gateway, which the testing kit ends and starts again. */
export async function oneGateway(config: object, resumable: boolean): Promise<Gateways> {
  const kit = closeLater(
    await testGateway({
      app: streaming(resumable),
      sessionScope: 'global',
      shareLinks,
      limits: { sendsPerSecond: 10_000, queueLength: 1000, drainMs: 50 },
      ...config,
    }),
    (it) => it.close(),
  );
  const clients = new Map<string, TestClient<any>>();
  let ending: Promise<void> = Promise.resolve();
  return {
    client(user) {
      const client = clients.get(user) ?? kit.client({ user });
      clients.set(user, client);
      return client as never;
    },
    guest(token) {
      const client = clients.get(token) ?? kit.client({ token, transport: 'sse' });
      clients.set(token, client);
      return client as never;
    },
    end(how) {
      ending = ending.then(() => kit[how]());
      return ending;
    },
  };
}
