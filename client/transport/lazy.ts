import { asNetworkError } from './http.js';
import type { ClientTransport } from './transport.js';

/** A transport that is looked for whenever it is used. @param find Rejects with what every use then fails with */
export function lazyTransport(name: string, find: () => Promise<ClientTransport>): ClientTransport {
  let last: Promise<ClientTransport> | undefined;
  const use = () => {
    last = find().catch((cause) => {
      throw asNetworkError(cause);
    });
    return last;
  };
  return {
    name,
    request: async (...args) => (await use()).request(...args),
    stream: async function* (...args) {
      yield* (await use()).stream(...args);
    },
    open: (...args) => {
      const link = use().then((transport) => transport.open(...args));
      link.catch((error) => args[1].onClose({ error }));
      return {
        subscribe: async (change) => (await link).subscribe(change),
        close: () => void link.then((opened) => opened.close()).catch(() => {}),
      };
    },
    // What was never used is not looked for just to be closed.
    close: () => void last?.then((transport) => transport.close()).catch(() => {}),
  };
}
