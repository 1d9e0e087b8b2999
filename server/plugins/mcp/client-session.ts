import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { accepts } from '../../accept.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { type McpCaller, servedAs } from './caller.js';
import { OpenRequests } from './open-requests.js';
import type { McpLimits } from './options.js';
import { tagged } from './peer-messages.js';
import { ReplayBuffer } from './replay-buffer.js';
import type { JSONRPCMessage, McpSdk, McpServer } from './sdk.js';

/** The longest delay of a Node timer. */
const MAX_DELAY_MS = 2 ** 31 - 1;
/** The delay after which a client whose stream was cut comes back. */
const RETRY_MS = 1000;

export interface ClientSessionInit {
  readonly id: string;
  readonly server: McpServer;
  readonly limits: McpLimits;
  /** This gateway. Ids of the session's messages contain it if the client may come to other gateways. */
  readonly holder: string;
  /** Called when the client's `initialize` was accepted. The response waits for it. */
  onOpen(): MaybePromise<void>;
  /** Called when its first work begins, and when its last work ends. */
  onUse(): void;
  /** Called once, when the session has ended. */
  onClose(): void;
}

/** A client session of the revisions that have them: its own server and transport, and a timer that ends it when idle. */
export class McpSession {
  readonly #server: McpServer;
  readonly #transport: InstanceType<McpSdk['node']['NodeStreamableHTTPServerTransport']>;
  readonly #idleMs: number;
  readonly #onUse: () => void;
  #timer: NodeJS.Timeout | undefined;
  #inUse = 0;
  #closed = false;

  private constructor(sdk: McpSdk, init: ClientSessionInit) {
    const { id, server, limits, holder, onOpen, onUse, onClose } = init;
    this.#server = server;
    this.#onUse = onUse;
    this.#idleMs = Math.min(limits.idleMs, MAX_DELAY_MS);
    this.#transport = new sdk.node.NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: onOpen,
      eventStore: new ReplayBuffer(limits, holder),
      retryInterval: RETRY_MS,
    });
    const requests = new OpenRequests(this.#transport);
    this.#transport.send = (message, options) => requests.send(tagged(message, holder), options);
    server.onclose = () => {
      this.#closed = true;
      clearTimeout(this.#timer);
      onClose();
    };
  }

  static async open(sdk: McpSdk, init: ClientSessionInit): Promise<McpSession> {
    const session = new McpSession(sdk, init);
    await session.#server.connect(session.#transport);
    return session;
  }

  /** Takes the `initialize` that its client sent to another gateway. The response is discarded, since the client has one. */
  async replay(initialize: unknown): Promise<void> {
    const request = new IncomingMessage(new Socket());
    const headers = {
      host: 'localhost',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
    Object.assign(request, { method: 'POST', url: '/', headers, rawHeaders: Object.entries(headers).flat() });
    await this.#transport.handleRequest(request, new ServerResponse(request), initialize);
  }

  /** Takes a message that its client sent to another gateway. */
  hear(message: JSONRPCMessage): void {
    this.#transport.onmessage?.(message);
  }

  /** Serves a request of the session's client; resolves when its response has ended. */
  async serve(
    { request, response }: PluginRequest,
    caller: Pick<McpCaller, 'person' | 'view'>,
    body?: unknown,
  ): Promise<void> {
    await this.use(async () => {
      if (response.closed) return;
      const ended = new Promise<void>((resolve) => response.once('close', resolve));
      // A call goes on even if its stream is cut.
      const during: McpCaller['during'] = (work) => this.use(work);
      namePlainly(request);
      await servedAs(request, { ...caller, inSession: true, during }, (it) =>
        this.#transport.handleRequest(it, response, body),
      );
      await ended;
    });
  }

  /** Whether it has work or a stream. */
  get inUse(): boolean {
    return this.#inUse > 0;
  }

  /** Keeps the session while it is in use. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#inUse += 1;
    this.#onUse();
    try {
      return await work();
    } finally {
      this.#inUse -= 1;
      if (this.#inUse === 0) {
        this.#onUse();
        this.#startClock();
      }
    }
  }

  #startClock(): void {
    if (this.#closed || this.#idleMs === MAX_DELAY_MS) return;
    this.#timer ??= setTimeout(() => {
      if (this.#inUse === 0) void this.close();
    }, this.#idleMs).unref();
    this.#timer.refresh();
  }

  /** Ends the session, with its streams and calls. */
  async close(): Promise<void> {
    await this.#server.close();
  }
}

/** The media types that the SDK looks for in `Accept`. It compares text, so wildcards, capitals and no header at all are put in its words. */
function namePlainly({ headers, rawHeaders }: PluginRequest['request']): void {
  const types = ['application/json', 'text/event-stream'].filter((type) => accepts(headers.accept, type));
  const plain = types.join(', ');
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2)
    if (rawHeaders[at]!.toLowerCase() === 'accept') rawHeaders.splice(at, 2);
  rawHeaders.push('accept', plain);
  headers.accept = plain;
}
