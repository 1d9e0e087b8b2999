import { EventReader } from '../../shared/event-reader.js';
import type { EventOf, GatewayEvent } from '../../shared/events.js';
import type { ClientFrame, ServerFrame, StreamItem } from '../../shared/frames.js';
import { GatewayError } from '../../shared/gateway-error.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import { PROTOCOL_RANGE } from '../../shared/version.js';
import { createWatchdog, type Patience, quietTimer } from '../timing.js';
import type { CredentialSource, RequestCredentials } from './credentials.js';
import { broken, foreign, misused, silence, unreachable } from './failure.js';
import { toJson } from './http.js';

/** Time for a socket to be connected. */
const CONNECT_MS = 10_000;

/** A socket that carries frames as texts. */
export interface TextWire {
  send(text: string): void;
  close(): void;
  /** Whether somebody waits for this socket. If the runtime allows it, an idle socket keeps no process alive. */
  hold?(busy: boolean): void;
}

/** The callbacks of a socket. None is called before the opening call has returned. */
export interface FrameWireHandlers {
  onOpen(): void;
  onText(text: string): void;
  /** Bytes came, of a text that is not whole yet. */
  onProgress?(): void;
  /** Called exactly once, also if it could not be opened or was closed from here. @param cause The runtime's error */
  onClose(cause?: unknown): void;
}

/** Makes one attempt to open a socket. @throws GatewayError if this runtime has no such kind of socket */
export type OpenFrameWire = (handlers: FrameWireHandlers) => TextWire;

/** A request under way. */
export interface PendingRequest {
  /** The payload of its answer. */
  readonly answer: Promise<unknown>;
  /** Lets go of it, which ends a method call. */
  cancel(): void;
  /** Allows `count` more chunks. */
  more(count: number): void;
}

/** The callbacks of a socket to its owner. */
export interface SocketHandlers {
  onEvent(event: GatewayEvent): void;
  /** It takes no more requests: the gateway closes it, or it broke. Called once. */
  onEnd(error?: GatewayError): void;
  /** Nobody waits for it any more. */
  onIdle(): void;
}

/** Options of a socket. */
export interface FrameSocketOptions {
  readonly address: string;
  readonly open: OpenFrameWire;
  readonly targets: readonly SubscribeTarget[];
  readonly credentials: CredentialSource;
  readonly patience: Patience;
}

/** One connection to the gateway: the handshake, requests and their answers, events. It does not reconnect. */
export interface FrameSocket {
  /** Rejects when the gateway refuses the connection or cannot be reached. */
  readonly ready: Promise<EventOf<'connected'>>;
  /** Whether it takes no more requests. */
  isEnded(): boolean;
  isIdle(): boolean;
  /** The number of frames that came. If it grows after a request, the socket is alive. */
  heard(): number;
  /**
   * Sends a request. Call it only once the socket is connected.
   *
   * @param onChunk Receives the items of a streaming method; without it, none is expected.
   * @param window Chunks that may come before `more` allows more.
   * @throws GatewayError `INVALID_REQUEST` for params that JSON cannot express
   */
  request(
    method: string,
    params: unknown,
    onChunk?: (item: StreamItem) => void,
    window?: number,
  ): PendingRequest;
  /** Has the runtime wait for this socket, or not. */
  hold(busy: boolean): void;
  /** Takes no more requests, and closes once the pending ones are answered. */
  retire(): void;
  /** Closes it at once. Requests without an answer fail with `NETWORK`. */
  close(): void;
}

interface WaitingCall {
  resolve(payload: unknown): void;
  reject(error: GatewayError): void;
  readonly onChunk: ((item: StreamItem) => void) | undefined;
}

/** Opens a socket. At first it is held for the caller that opens it. */
export function openFrameSocket(
  { address, open, targets, credentials, patience }: FrameSocketOptions,
  { onEvent, onEnd, onIdle }: SocketHandlers,
): FrameSocket {
  const waiting = new Map<string, WaitingCall>();
  const events = new EventReader();
  let wire: TextWire | undefined;
  let given: RequestCredentials = {};
  /** The last `error` frame: the reason if the connection is closed next. */
  let complaint: GatewayError | undefined;
  let isOpen = false;
  let isEnded = false;
  let isHeld = true;
  let lastId = 0;
  let heard = 0;
  let connected!: (event: EventOf<'connected'>) => void;
  let refused!: (error: GatewayError) => void;
  const ready = new Promise<EventOf<'connected'>>((resolve, reject) => {
    connected = resolve;
    refused = reject;
  });
  ready.catch(() => {});

  const send = (frame: ClientFrame) => wire?.send(JSON.stringify(frame));
  const hold = (busy: boolean) => {
    isHeld = busy;
    wire?.hold?.(busy);
  };
  const end = (error?: GatewayError) => {
    if (isEnded) return;
    isEnded = true;
    stopTimer();
    refused(error ?? broken(address));
    onEnd(error);
    if (waiting.size === 0) cut();
  };
  /** @param lost The error of unanswered requests: they may have had their effect, whatever the reason for closing. */
  const closed = (error?: GatewayError, lost = error ?? broken(address)) => {
    wire = undefined;
    watchdog.stop();
    end(error);
    for (const { reject } of waiting.values()) reject(lost);
    waiting.clear();
  };
  const cut = (error?: GatewayError) => {
    const old = wire;
    closed(error);
    old?.close();
  };
  const close = (error?: GatewayError) => {
    end(error);
    cut(error);
  };
  const settled = () => {
    if (waiting.size > 0) return;
    if (isEnded) cut();
    else onIdle();
  };
  const cancel = (id: string) => {
    if (!waiting.delete(id)) return;
    send({ type: 'cancel', id });
    settled();
  };

  /** Renews the token before it runs out, so that the connection outlives it. A refusal changes nothing until then. */
  const renewAfter = (leftMs: number | undefined) => {
    credentials.confirm();
    stopTimer();
    stopTimer = credentials.renew(
      leftMs,
      ({ token }) => {
        if (!token) return;
        given = { token };
        send({ type: 'auth', token });
      },
      given,
    );
  };
  const takeEvent = (event: GatewayEvent) => {
    const { type } = event;
    if (type === 'connected') {
      isOpen = true;
      watchdog.expect(event.heartbeatMs);
      renewAfter(event.authExpiresInMs);
      connected(event);
    } else if (type !== 'heartbeat' || watchdog.beat()) watchdog.works();
    if (type === 'auth_expired') credentials.expired();
    if (!isEnded) onEvent(event);
  };
  const take = (frame: ServerFrame) => {
    switch (frame.type) {
      case undefined:
        return takeEvent(events.read(frame.event, frame.data, frame.id));
      case 'chunk': {
        const request = waiting.get(frame.id);
        if (request?.onChunk) return request.onChunk(frame);
        request?.reject(misused('The method is a stream: call it with stream()'));
        return cancel(frame.id);
      }
      case 'res': {
        const request = waiting.get(frame.id);
        if (!request) return;
        waiting.delete(frame.id);
        if (frame.ok) request.resolve(frame.payload);
        else request.reject(GatewayError.fromJSON(frame.error));
        return settled();
      }
      case 'ping':
        return send({ type: 'pong', timestamp: frame.timestamp });
      case 'authenticated':
        return renewAfter(frame.authExpiresInMs);
      case 'error':
        // A new token was refused, or the connection will be closed next. It goes on until then.
        complaint = GatewayError.fromJSON(frame);
        if (frame.code === 'SHUTTING_DOWN') end(complaint);
    }
  };

  const dial = async (again: boolean): Promise<void> => {
    complaint = undefined;
    try {
      given = await (again ? credentials.refresh(given) : credentials.read());
      if (isEnded) return;
      const { token } = given;
      const own = open({
        onOpen: () =>
          send({
            type: 'connect',
            protocol: PROTOCOL_RANGE,
            ...(token && { token }),
            ...(targets.length > 0 && { subscribe: targets }),
          }),
        onText: (text) => {
          if (wire !== own) return;
          let frame: ServerFrame;
          try {
            frame = JSON.parse(text);
          } catch {
            return close(foreign(address, 'with no frame'));
          }
          heard += 1;
          watchdog.heard();
          take(frame);
        },
        onProgress: watchdog.heard,
        onClose: (cause) => {
          if (wire !== own) return;
          const mayTry = complaint?.status === 401 && !isOpen && !again && credentials.isRefreshable;
          // A refused token is refreshed and tried again once.
          if (mayTry && !isEnded) void dial(true);
          else {
            const lost = (isOpen ? broken : unreachable)(address, complaint?.message ?? cause);
            closed(complaint ?? lost, lost);
          }
        },
      });
      wire = own;
      own.hold?.(isHeld);
    } catch (cause) {
      end(unreachable(address, cause));
    }
  };
  const watchdog = createWatchdog(() => close(silence(address)), patience);
  const late = quietTimer(CONNECT_MS, () => close(unreachable(address, `not within ${CONNECT_MS} ms`)));
  /** Stops the current timer: the limit for connecting, then the wait for the next token. */
  let stopTimer = () => clearTimeout(late);
  void dial(false);

  return {
    ready,
    isEnded: () => isEnded,
    isIdle: () => waiting.size === 0,
    heard: () => heard,
    request: (method, params, onChunk, window) => {
      const id = String(++lastId);
      const text = toJson({ type: 'req', id, method, params, window });
      const answer = new Promise((resolve, reject) => waiting.set(id, { resolve, reject, onChunk }));
      hold(true);
      wire?.send(text);
      return {
        answer,
        cancel: () => cancel(id),
        more: (count) => {
          if (waiting.has(id)) send({ type: 'more', id, count });
        },
      };
    },
    hold,
    retire: () => end(),
    close: () => close(),
  };
}
