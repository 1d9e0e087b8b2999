import { GatewayError, isGatewayError } from '../../shared/gateway-error.js';
import { quietTimer } from '../timing.js';
import type { FrameTransport } from './frames.js';
import { lazyTransport } from './lazy.js';
import type { ClientTransport } from './transport.js';

/** Time for a WebSocket before HTTP is used. A proxy may swallow the upgrade and answer nothing at all. */
const PROBE_MS = 5000;

/**
 * Tries a WebSocket, and falls back to SSE where none can be opened. A WebSocket that once worked is kept to; SSE until its stream
 * cannot be opened either, for then it is not the WebSocket that is the problem.
 */
export function autoTransport(webSocket: FrameTransport, sse: ClientTransport): ClientTransport {
  let chosen: ClientTransport | undefined;
  let probing: Promise<ClientTransport> | undefined;
  const fallback: ClientTransport = {
    ...sse,
    open: (targets, handlers) => {
      let heard = false;
      return sse.open(targets, {
        onEvent: (event) => {
          heard = true;
          handlers.onEvent(event);
        },
        onClose: (end) => {
          if (!heard && end.error?.code === 'NETWORK') chosen = undefined;
          handlers.onClose(end);
        },
      });
    },
  };
  const probe = async () => {
    try {
      await within(PROBE_MS, webSocket.connect());
      chosen = webSocket;
    } catch (error) {
      // A refusal of the gateway is one on every transport; that there is no WebSocket class is none.
      if (
        isGatewayError(error) &&
        error.status >= 400 &&
        error.status < 500 &&
        error.code !== 'INVALID_REQUEST'
      )
        throw error;
      webSocket.close();
      chosen = fallback;
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
  const transport = lazyTransport('auto', find);
  return {
    ...transport,
    close: () => {
      webSocket.close();
      sse.close();
    },
  };
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = quietTimer(ms, () =>
      reject(new GatewayError({ code: 'NETWORK', message: 'No WebSocket was opened in time' })),
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
