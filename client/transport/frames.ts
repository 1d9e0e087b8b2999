import type { GatewayEvent } from '../../shared/events.js';
import type { StreamItem } from '../../shared/frames.js';
import type { GatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import { createIterator } from '../event-iterator.js';
import { onAbort, type Patience, quietTimer, raceSignal } from '../timing.js';
import { createCredentials } from './credentials.js';
import { misused, unsent } from './failure.js';
import { type FrameSocket, type OpenFrameWire, openFrameSocket } from './frame-socket.js';
import type { Supplied } from './http-options.js';
import type { ClientTransport } from './transport.js';

/** A socket without a link waits so long for the next request. */
const IDLE_MS = 5000;
/** The number of items of a streaming method that may wait here for their consumer. */
const WINDOW = 64;

/** How to speak frames. */
export interface FrameTransportOptions {
  readonly name: string;
  readonly address: string;
  readonly open: OpenFrameWire;
  readonly token: Supplied<string | null | undefined> | undefined;
}

/** A transport over frames, as `auto` needs it. */
export interface FrameTransport extends ClientTransport {
  /** Connects, if it is not connected. @throws GatewayError the gateway's refusal, or `NETWORK` */
  connect(): Promise<void>;
}

interface OpenLink {
  /** Whether `connected` was passed on, or will be. */
  isStarted: boolean;
  onEvent(event: GatewayEvent): void;
  close(error?: GatewayError): void;
}

/**
 * A transport over one socket for everything: requests, their answers and the events of all sessions. The first request or link opens it.
 * It closes with its link, or after some idle seconds. A second link has a socket of its own.
 */
export function frameTransport({ name, address, open, token }: FrameTransportOptions): FrameTransport {
  const credentials = createCredentials({ token });
  const patience: Patience = { times: 1 };
  const links = new Map<FrameSocket, OpenLink>();
  /** The socket for requests. */
  let socket: FrameSocket | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;

  const isUnused = (own: FrameSocket) => own.isIdle() && !links.has(own);
  /** Closes a socket that nobody uses for some time. */
  const rest = (own: FrameSocket) => {
    if (!isUnused(own)) return;
    own.hold(false);
    clearTimeout(idle);
    idle = quietTimer(IDLE_MS, () => isUnused(own) && own.retire());
  };
  const dial = (targets: readonly SubscribeTarget[]): FrameSocket => {
    const own: FrameSocket = openFrameSocket(
      { address, open, targets, credentials, patience },
      {
        onEvent: (event) => {
          const link = links.get(own);
          if (link?.isStarted) link.onEvent(event);
        },
        onEnd: (error) => {
          if (socket === own) socket = [...links.keys()].find((other) => other !== own);
          links.get(own)?.close(error);
        },
        onIdle: () => rest(own),
      },
    );
    socket ??= own;
    return own;
  };
  const connected = async (signal: AbortSignal): Promise<FrameSocket> => {
    for (;;) {
      if (signal.aborted) throw signal.reason;
      const own = socket ?? dial([]);
      clearTimeout(idle);
      try {
        await raceSignal(signal, () => own.ready);
      } catch (error) {
        // A socket that was never ready has sent nothing.
        throw signal.aborted ? error : unsent(error as GatewayError);
      } finally {
        rest(own);
      }
      // It may have ended meanwhile. Nothing was sent, so another socket can be tried.
      if (!own.isEnded()) return own;
    }
  };

  return {
    name,
    address,
    isGuarded: true,
    connect: async () => {
      const own = socket ?? dial([]);
      await own.ready;
      rest(own);
    },
    request: async (operation, params, { signal }) => {
      const own = await connected(signal);
      const before = own.heard();
      const { answer, cancel } = own.request(operation, params);
      try {
        return await raceSignal(signal, () => answer);
      } catch (error) {
        cancel();
        // Nothing came since, so the next request should take another socket.
        if (signal.reason?.code === 'TIMEOUT' && own.heard() === before) own.retire();
        throw error;
      }
    },
    stream: async function* (params, { signal }) {
      const own = await connected(signal);
      const items = createIterator<StreamItem>({});
      const { answer, cancel, more } = own.request('invoke', params, items.push, WINDOW);
      answer.then(
        (payload) => items.end(payload === undefined ? undefined : misused('The method is not a stream')),
        items.end,
      );
      const release = onAbort(signal, () => items.end(signal.reason));
      let taken = 0;
      try {
        for await (const item of items) {
          yield item;
          taken += 1;
          if (taken < WINDOW / 2) continue;
          more(taken);
          taken = 0;
        }
      } finally {
        release();
        cancel();
      }
    },
    open: (targets, { onEvent, onClose }) => {
      const adopted = socket && !links.has(socket) ? socket : undefined;
      const own = adopted ?? dial(targets);
      const link: OpenLink = {
        isStarted: !adopted,
        onEvent,
        close: (error) => {
          if (links.get(own) !== link) return;
          links.delete(own);
          own.retire();
          onClose({ error, retryMs: error?.retryAfterMs });
        },
      };
      clearTimeout(idle);
      own.hold(true);
      links.set(own, link);
      // The socket was opened for requests, so its sessions must be asked for.
      adopted?.ready.then((event) => {
        link.isStarted = true;
        if (links.get(own) === link) onEvent({ ...event, sessions: {} });
      }, link.close);
      return {
        subscribe: async (change) => {
          await own.request('subscribe', change).answer;
        },
        close: () => link.close(),
      };
    },
    look: () => {
      const change = credentials.look();
      // A socket keeps the person that it was opened for.
      if (change && change !== 'same') socket?.retire();
      return change;
    },
    close: () => {
      clearTimeout(idle);
      for (const own of links.keys()) own.close();
      socket?.close();
    },
  };
}
