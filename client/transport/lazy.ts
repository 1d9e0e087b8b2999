import { isGatewayError } from '../../shared/errors.js';
import { asNetworkError } from './http.js';
import type { ClientTransport, Link } from './transport.js';

/** A transport that is looked for whenever it is used. @param find Rejects with what every use then fails with */
export function lazyTransport(name: string, find: () => Promise<ClientTransport>): ClientTransport {
  let found: ClientTransport | undefined;
  const use = async () => {
    try {
      found = await find();
      return found;
    } catch (error) {
      throw isGatewayError(error) ? error : asNetworkError(error);
    }
  };
  return {
    name,
    request: async (...args) => (await use()).request(...args),
    stream: async function* (...args) {
      yield* (await use()).stream(...args);
    },
    open: (targets, handlers) => {
      let link: Link | undefined;
      let closed = false;
      use().then(
        (transport) => {
          if (!closed) link = transport.open(targets, handlers);
        },
        (error) => {
          if (!closed) handlers.onClose({ error });
        },
      );
      return {
        subscribe: (change) => link!.subscribe(change),
        close: () => {
          closed = true;
          link?.close();
        },
      };
    },
    close: () => found?.close(),
  };
}
