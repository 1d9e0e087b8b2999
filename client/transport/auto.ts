import { isGatewayError } from '../../shared/gateway-error.js';
import { abortError, inTime } from '../timing.js';
import { addressOf, isUnsent, unreachable } from './failure.js';
import type { FrameTransport } from './frames.js';
import type { ClientTransport, Link } from './transport.js';

/** The time limit for a WebSocket before HTTP is used. A proxy may swallow the upgrade and answer nothing at all. */
const PROBE_MS = 5000;

/**
 * Tries a WebSocket, and falls back to SSE if none can be opened, or if the gateway refuses it: the credentials may be cookies or headers,
 * which a WebSocket cannot carry. The chosen transport is kept until it cannot be opened any more.
 */
export function autoTransport(webSocket: FrameTransport, sse: ClientTransport): ClientTransport {
  let chosen: ClientTransport | undefined;
  let probing: Promise<ClientTransport> | undefined;

  const probe = async () => {
    try {
      await inTime(PROBE_MS, abortError, webSocket.connect);
      chosen = webSocket;
    } catch {
      webSocket.close();
      chosen = sse;
    } finally {
      probing = undefined;
    }
    return chosen;
  };
  const find = async () => {
    if (chosen) return chosen;
    probing ??= probe();
    return probing;
  };
  const doubt = (transport: ClientTransport) => {
    if (chosen === transport) chosen = undefined;
  };

  return {
    name: 'auto',
    get address() {
      return addressOf(chosen ?? sse);
    },
    get isScarce() {
      return chosen === sse;
    },
    get isGuarded() {
      return chosen === webSocket;
    },
    request: async (...args) => {
      const transport = await find();
      try {
        return await transport.request(...args);
      } catch (error) {
        // Nothing was sent, so even a call that must not be repeated can take the other transport.
        const isBlocked = transport === webSocket && isGatewayError(error) && isUnsent(error);
        if (!isBlocked || args[2].signal.aborted) throw error;
        doubt(transport);
        return (await find()).request(...args);
      }
    },
    stream: async function* (...args) {
      yield* (await find()).stream(...args);
    },
    open: (targets, handlers) => {
      let heard = false;
      let isOver = false;
      const close = (end: Parameters<typeof handlers.onClose>[0]) => {
        if (isOver) return;
        isOver = true;
        handlers.onClose(end);
      };
      const link: Promise<Link> = find().then((transport) => {
        if (isOver) throw abortError();
        return transport.open(targets, {
          ...handlers,
          onEvent: (event) => {
            heard = true;
            handlers.onEvent(event);
          },
          onClose: (end) => {
            if (!heard && (transport === webSocket || end.error?.code === 'NETWORK')) doubt(transport);
            close(end);
          },
        });
      });
      link.catch((cause) => close({ error: unreachable(addressOf(sse), cause) }));
      return {
        subscribe: async (change) => (await link).subscribe(change),
        close: () => {
          close({});
          link.then((opened) => opened.close()).catch(() => {});
        },
      };
    },
    look: () => chosen?.look?.(),
    close: () => {
      webSocket.close();
      sse.close();
    },
  };
}
