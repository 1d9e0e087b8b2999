import { type Client, type ClientOptions, createClient } from '../../client/index.js';
import type {
  ClientTransport,
  Link,
  LinkHandlers,
  SubscriptionChange,
  TransportOptions,
} from '../../client/transport/transport.js';
import { GatewayError } from '../../shared/errors.js';
import type { GatewayEvent, SubscriptionInfo } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import type { StreamItem } from '../../shared/frames.js';
import type { SubscribeTarget } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import { closeLater } from '../support/resources.js';

export const EPOCH = 'AAAAAAAAAAA';
export const OTHER_EPOCH = 'BBBBBBBBBBB';

/** Cursor of an event in the usual epoch. */
export const at = (seq: number, epoch = EPOCH) => `${epoch}.1.${seq}`;

export const info = (next: number, over: Partial<SubscriptionInfo> = {}): SubscriptionInfo => ({
  epoch: EPOCH,
  first: 1,
  head: next - 1,
  resume: 'new',
  next,
  status: 'idle',
  queued: 0,
  ...over,
  ...(over.epoch !== null && { cursor: at(next - 1, over.epoch) }),
});

/** A logged event; any type and fields, so that tests can make up what no gateway sends. */
export const logged = (seq: number, type = 'custom', over: object = {}): GatewayEvent =>
  ({
    type,
    sessionId: 'main',
    cursor: at(seq),
    ts: seq,
    ...(type === 'custom' && { name: 'n', payload: seq }),
    ...over,
  }) as GatewayEvent;

export const snapshot = (seq: number, state: Partial<SessionState> = {}, epoch = EPOCH): GatewayEvent => ({
  type: 'snapshot',
  sessionId: 'main',
  cursor: at(seq, epoch),
  state: { ...initialState, cursor: at(seq, epoch), ...state },
});

export const gap = (seq: number, epoch = EPOCH): GatewayEvent => ({
  type: 'gap',
  sessionId: 'main',
  cursor: at(seq, epoch),
  reason: 'truncated',
  requested: null,
  epoch,
  first: seq + 1,
  head: seq,
});

/** One attempt at the stream, played by the test. */
export class ScriptedLink implements Link {
  readonly targets: readonly SubscribeTarget[];
  readonly changes: SubscriptionChange[] = [];
  closed = false;
  refuse: GatewayError | undefined;
  readonly #handlers: LinkHandlers;
  readonly #changed: () => void;

  constructor(targets: readonly SubscribeTarget[], handlers: LinkHandlers, changed: () => void) {
    this.targets = targets;
    this.#handlers = handlers;
    this.#changed = changed;
  }

  async subscribe(change: SubscriptionChange): Promise<void> {
    this.changes.push(change);
    this.#changed();
    if (this.refuse && change.add) throw this.refuse;
  }

  close(): void {
    this.closed = true;
    this.#changed();
  }

  emit(...events: GatewayEvent[]): this {
    for (const event of events) this.#handlers.onEvent(event);
    return this;
  }

  connect(sessions: Record<string, SubscriptionInfo>, heartbeatMs = 15_000, user = 'ada'): this {
    const event = {
      type: 'connected',
      protocol: 1,
      gatewayId: 'g',
      connectionId: 'c',
      clientId: 'c',
      heartbeatMs,
      defaultApp: 'assistant',
      user: { id: user },
      sessions,
    } as const;
    return this.emit(event, { type: 'heartbeat' });
  }

  subscribed(subscription: SubscriptionInfo, sessionId = 'main'): this {
    return this.emit({ type: 'subscribed', sessionId, ...subscription });
  }

  /** Has another link take over from this one. */
  stale(): void {
    this.#handlers.onStale?.();
  }

  end(error?: GatewayError, retryMs?: number): void {
    this.#handlers.onClose({ ...(error && { error }), retryMs });
  }
}

type Answer = unknown | ((params: never, attempt: number) => unknown);

/** A transport whose gateway is the test. */
export class ScriptedTransport implements ClientTransport {
  readonly name = 'scripted';
  readonly links: ScriptedLink[] = [];
  readonly requests: { operation: OperationName; params: Record<string, unknown> }[] = [];
  answers: Partial<Record<OperationName, Answer>> = {};
  items: AsyncIterable<StreamItem> | undefined;
  readonly #waiting = new Set<() => void>();

  async request(operation: OperationName, params: unknown, { signal }: TransportOptions): Promise<unknown> {
    this.requests.push({ operation, params: params as Record<string, unknown> });
    const attempt = this.requests.filter((request) => request.operation === operation).length;
    this.#changed();
    const answer = this.answers[operation];
    const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    aborted.catch(() => {});
    const value = await Promise.race([
      typeof answer === 'function' ? answer(params, attempt) : answer,
      aborted,
    ]);
    if (value instanceof GatewayError) throw value;
    return value;
  }

  stream(): AsyncIterable<StreamItem> {
    return this.items!;
  }

  open(targets: readonly SubscribeTarget[], handlers: LinkHandlers): ScriptedLink {
    const link = new ScriptedLink(targets, handlers, () => this.#changed());
    this.links.push(link);
    this.#changed();
    return link;
  }

  close(): void {}

  /** Resolves when something the client does makes the condition true. */
  async until<T>(condition: () => T | undefined | false): Promise<T> {
    for (;;) {
      const value = condition();
      if (value) return value;
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#waiting.delete(done);
          resolve();
        };
        this.#waiting.add(done);
      });
    }
  }

  /** The nth attempt at the stream, 0 the first. */
  link(index: number): Promise<ScriptedLink> {
    return this.until(() => this.links[index]);
  }

  #changed(): void {
    for (const done of [...this.#waiting]) done();
  }
}

/** A client of a gateway that is the test. It disconnects after the running test. */
export function scriptedClient(options: Omit<ClientOptions, 'transport'> = {}): {
  readonly transport: ScriptedTransport;
  readonly client: Client;
} {
  const transport = new ScriptedTransport();
  const client = closeLater(createClient({ transport, ...options }), (it) => it.disconnect());
  return { transport, client };
}

/** Takes some items without leaving the iteration. */
export async function take<T>(iterator: AsyncIterator<T>, count: number): Promise<T[]> {
  const items: T[] = [];
  while (items.length < count) {
    const { done, value } = await iterator.next();
    if (done) throw new Error(`ended after ${items.length} of ${count}`);
    items.push(value);
  }
  return items;
}

export const seqs = (events: readonly { readonly type: string; readonly cursor?: string | undefined }[]) =>
  events.map(({ type, cursor }) =>
    type === 'gap' || type === 'snapshot' ? type : Number(cursor?.split('.')[2]),
  );

/** Lets everything settle that waits for nothing but promises. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
