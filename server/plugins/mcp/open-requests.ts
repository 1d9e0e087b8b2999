import { NoAnswer } from './replay-buffer.js';
import type { JSONRPCMessage, McpSdk, RequestId } from './sdk.js';

type Transport = InstanceType<McpSdk['node']['NodeStreamableHTTPServerTransport']>;

/** The requests of one POST. */
interface PostedRequests {
  /** Those that wait for their answer. */
  readonly open: Set<RequestId>;
  readonly cancelled: Set<RequestId>;
}

interface AnyMessage {
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: { readonly requestId?: RequestId };
}

/**
 * The requests of a client session that have no answer yet. The SDK's transport frees the stream of a POST when each of its requests is
 * answered, and a cancelled one never is: its stream ends here.
 */
export class OpenRequests {
  readonly #transport: Transport;
  readonly #send: Transport['send'];
  readonly #posted = new Map<RequestId, PostedRequests>();

  /** Takes the transport's messages in both directions. */
  constructor(transport: Transport) {
    this.#transport = transport;
    this.#send = transport.send.bind(transport);
    const posts = new WeakMap<object, PostedRequests>();
    // The SDK's server calls it before its own work.
    transport.onmessage = (message, extra) => {
      const { id, method, params } = message as AnyMessage;
      // The server hears a cancellation one turn later too, and then also of what follows in its batch.
      if (method === 'notifications/cancelled') return queueMicrotask(() => this.#cancel(params?.requestId));
      if (id === undefined || method === undefined || !extra?.request) return;
      const posted = posts.get(extra.request) ?? { open: new Set(), cancelled: new Set() };
      posts.set(extra.request, posted);
      posted.open.add(id);
      this.#posted.set(id, posted);
    };
  }

  async send(message: JSONRPCMessage, options?: Parameters<Transport['send']>[1]): Promise<void> {
    const { id, method } = message as AnyMessage;
    const posted = id === undefined || method !== undefined ? undefined : this.#posted.get(id);
    if (!posted) return this.#send(message, options);
    if (posted.cancelled.has(id!)) return;
    posted.open.delete(id!);
    this.#posted.delete(id!);
    await this.#send(message, options);
    await this.#free(posted);
  }

  #cancel(id: RequestId | undefined): void {
    const posted = id === undefined ? undefined : this.#posted.get(id);
    if (!posted?.open.delete(id!)) return;
    posted.cancelled.add(id!);
    // The rest of its POST is heard first, and what the cancelled call still says, such as that its question is closed.
    setImmediate(() => void this.#free(posted));
  }

  /** Ends the stream of a POST in which nothing waits any more, if the transport does not. */
  async #free({ open, cancelled }: PostedRequests): Promise<void> {
    if (open.size > 0) return;
    for (const id of cancelled) {
      this.#posted.delete(id);
      this.#transport.closeSSEStream(id);
      // Nobody hears it, and the transport forgets the request. One that the transport has forgotten already is refused.
      await this.#send(new NoAnswer(id) as JSONRPCMessage).catch(() => {});
    }
  }
}
