import type { EventType } from '../shared/events.js';
import type { SendInput } from '../shared/messages.js';
import type { GatewayStatus, ParamsOf, ResultOf, SessionStatusResult } from '../shared/operation-types.js';
import { createCall } from './call.js';
import { type ConnectionState, type ConnectionStatus, createConnection } from './connection.js';
import { coreOf } from './core-of.js';
import { bindCalls, type MethodCalls } from './method-calls.js';
import type { ClientOptions, SignalOptions } from './options.js';
import { createOutbox } from './outbox.js';
import { createPerson } from './person.js';
import { createRetries } from './retries.js';
import type { Core, Run, SendOptions } from './run.js';
import {
  type AbortOptions,
  bindSession,
  type Channel,
  type ClientSession,
  type EventsOptions,
} from './session.js';
import type { Aborts } from './timing.js';
import { autoTransport } from './transport/auto.js';
import { misused } from './transport/failure.js';
import { canStream } from './transport/http.js';
import type { HttpOptions } from './transport/http-options.js';
import { sseTransport } from './transport/sse.js';
import type { ClientTransport } from './transport/transport.js';
import { webSocketFrames, webSocketTransport } from './transport/websocket.js';
import type { ChannelInput, ChannelNames, ChannelPayload, ClientEvent } from './typed-events.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_SESSION = 'main';
/** A link that is not connected by then is given up. */
const CONNECT_MS = 10_000;
const HIDDEN_MS = 20_000;

/** A gateway, as its callers see it. All promises reject with `GatewayError`. */
export type Client<Source = unknown> = ClientOperations<Source> & MethodCalls<Source>;

/** The operations of every client. Those on a session have the names that `session(id)` uses. */
export interface ClientOperations<Source = unknown> {
  /** The client's one connection, for all its sessions. It opens when something listens and closes when nothing does. */
  readonly connection: ConnectionStatus;
  /** Calls the listener after each change of the connection. Returns a function that removes it. */
  on(event: 'state', listener: (state: ConnectionState) => void): () => void;

  session(sessionId: string): ClientSession<Source>;
  send(sessionId: string, input: SendInput, options?: SendOptions): Run<Source>;
  events<Type extends EventType = EventType>(
    sessionId: string,
    options?: EventsOptions<Type>,
  ): AsyncIterableIterator<ClientEvent<Source, Type>>;
  abort(sessionId: string, options?: AbortOptions): Promise<ResultOf<'abort'>>;
  /** Ends the conversation. The next send begins a new one under the same id. */
  close(sessionId: string, options?: SignalOptions): Promise<ResultOf<'close'>>;
  /** A channel of a session. @default sessionId 'main' */
  channel<Name extends ChannelNames<Source>>(
    name: Name,
    sessionId?: string,
  ): Channel<ChannelInput<Source, Name>, ChannelPayload<Source, Name>>;
  /** The status of a session, or of the gateway itself. */
  status(sessionId: string, options?: SignalOptions): Promise<SessionStatusResult>;
  status(sessionId?: undefined, options?: SignalOptions): Promise<GatewayStatus>;

  /** The user's sessions, page by page, the last used first. */
  sessions(options?: SignalOptions & ParamsOf<'sessions'>): Promise<ResultOf<'sessions'>>;
  apps(options?: SignalOptions): Promise<ResultOf<'apps'>>;
  methods(options?: SignalOptions): Promise<ResultOf<'methods'>>;
  /** A ticket that opens a native `EventSource` at `/events?token=`. It is good for 30 s. */
  ticket(options?: SignalOptions): Promise<ResultOf<'ticket'>>;
  /** Ends iterations, calls and the connection, but no run. The client may be used again. */
  disconnect(): void;
}

/**
 * Creates a client; nothing is sent until it is used. Type it with the gateway: `createClient<typeof gateway>(…)`.
 *
 * @throws GatewayError `INVALID_REQUEST` without `baseUrl` or a transport object.
 *
 * @example
 * ```ts
 * const client = createClient<typeof gateway>({ baseUrl: '/agent', token: () => auth.token() });
 * const run = client.send('main', 'Hello');
 * for await (const text of run.text) console.log(text);
 * const { stopReason } = await run.result;
 * ```
 */
export function createClient(options: ClientOptions): Client;
export function createClient<Source extends object>(options: ClientOptions): Client<Source>;
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options);
  const { timeoutMs = DEFAULT_TIMEOUT_MS, hiddenMs = HIDDEN_MS } = options;
  const aborts: Aborts = new Set();
  const outbox = createOutbox();
  const person = createPerson(transport, {
    drop: outbox.clear,
    restart: () => connection.restart(),
    renew: () => connection.renew(),
    isConnected: () => connection.state !== 'closed',
  });
  const connection = createConnection(transport, {
    connectMs: Math.min(timeoutMs, CONNECT_MS),
    hiddenMs,
    met: person.met,
  });
  const retries = createRetries();
  const onAnswer = () => {
    person.look();
    connection.hurry();
    retries.hurry();
  };
  const needs = { transport, timeoutMs, aborts, retries, person, onAnswer };
  const call = createCall(needs);
  const core: Core = { ...needs, call, connection, outbox, views: new Set() };
  options.persist?.attach(core);
  const session = (id: string) => bindSession(core, id);
  const bound =
    (name: 'send' | 'events' | 'abort' | 'close') =>
    (id: string, ...args: never[]): never =>
      (session(id)[name] as (...args: never[]) => never)(...args);

  const client: Client = {
    connection,
    on: (_event, listener) => connection.subscribe(listener),
    ...bindCalls(core),
    session,
    send: bound('send'),
    events: bound('events'),
    abort: bound('abort'),
    close: bound('close'),
    channel: (name, id = DEFAULT_SESSION) => session(id).channel(name),
    status: (sessionId?: string, options?: SignalOptions) =>
      call('status', { ...options, sessionId }) as Promise<never>,
    sessions: (options) => call('sessions', options),
    apps: (options) => call('apps', options),
    methods: (options) => call('methods', options),
    ticket: (options) => call('ticket', options),
    disconnect: () => {
      person.era = {};
      for (const abort of aborts) abort();
      connection.stop();
      transport.close();
    },
  };
  coreOf.set(client, core);
  return client;
}

function transportOf(options: ClientOptions): ClientTransport {
  const { transport, baseUrl } = options;
  if (typeof transport === 'object') return transport;
  if (baseUrl === undefined) throw misused('baseUrl is missing');
  switch (transport ?? (canStream(options) ? 'sse' : 'websocket')) {
    case 'websocket':
      return webSocketTransport(options);
    case 'auto':
      return autoTransport(webSocketFrames(options), sseTransport(options as HttpOptions));
    default:
      return sseTransport(options as HttpOptions);
  }
}
