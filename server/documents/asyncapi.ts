import { EVENTS_PATH, WEBSOCKET_PATH } from '../../shared/calls.js';
import type { MethodContext } from '../../shared/method.js';
import type { ApiDocument } from '../../shared/operation-types.js';
import {
  isStreamed,
  namesConnection,
  OPERATIONS,
  RUN_OPERATIONS,
  type RunOperation,
} from '../../shared/operations.js';
import { PROTOCOL_VERSION } from '../../shared/version.js';
import type { JsonSchema } from '../schema/schema.js';
import {
  frameMessages,
  type Messages,
  OPERATION_NAMES,
  requestMessages,
  streamMessages,
} from './asyncapi-messages.js';
import { EVENTS, RUN_EVENTS } from './event-types.js';
import { type GatewayFacts, infoOf } from './facts.js';
import { type DescribedMethod, MethodDescriber } from './methods.js';
import { ROUTES } from './routes.js';
import { type Components, protocolSchemas, usedSchemas } from './schemas.js';
import { asyncApiSecurity } from './security.js';

const ABOUT = `Sessions with conversational apps and typed methods: their event streams over HTTP (Server-Sent Events), and the frames of WebSockets and Unix sockets. The OpenAPI document describes the other HTTP routes.

A message of an event stream has the fields \`event\` and \`id\` as headers and its data, one line of JSON, as payload. A frame is one text message of a WebSocket, or one line on a Unix socket. Addresses are below the mount of the gateway.

Schemas are in JSON Schema draft 07, the one of AsyncAPI. What a method's schema says in later words is left out here; the OpenAPI document has it whole. Objects are open: a later version may add fields, event types and frames.`;

interface Operation {
  readonly action: 'send' | 'receive';
  readonly summary?: string | undefined;
  readonly messages: readonly string[];
  readonly reply?: readonly string[];
  readonly bindings?: object;
}

interface DocumentedChannel {
  readonly address: string | null;
  readonly server: string;
  readonly description: string;
  readonly bindings?: object;
  /** Its operations by name. */
  readonly operations: Readonly<Record<string, Operation>>;
}

/** Writes the AsyncAPI document of a gateway. */
export class AsyncApiWriter {
  readonly #facts: GatewayFacts;
  readonly #methods: MethodDescriber;
  #schemas: Components | null = null;

  constructor(facts: GatewayFacts) {
    this.#facts = facts;
    this.#methods = new MethodDescriber(facts.methods, 'draft-07');
  }

  /** The document for a caller, with the methods whose roles the user holds. */
  write(user: MethodContext['user']): ApiDocument {
    const methods = this.#methods.visibleTo(user);
    const channels = this.#channels(methods);
    const messages: Messages = {
      ...streamMessages(methods),
      ...frameMessages(),
      ...requestMessages(methods),
    };
    const components = Object.assign({}, ...methods.map((method) => method.components));
    const { securitySchemes } = asyncApiSecurity(this.#facts.auth);
    return {
      asyncapi: '3.1.0',
      info: infoOf(this.#facts, PROTOCOL_VERSION, ABOUT),
      defaultContentType: 'application/json',
      servers: this.#servers(),
      channels: Object.fromEntries(Object.entries(channels).map(([name, it]) => [name, channelOf(it)])),
      operations: Object.fromEntries(
        Object.entries(channels).flatMap(([name, { operations }]) =>
          Object.entries(operations).map(([key, operation]) => [
            `${name}.${key}`,
            operationOf(name, operation),
          ]),
        ),
      ),
      components: {
        schemas: usedSchemas(messages, { ...this.#protocol(), ...components }),
        messages,
        securitySchemes,
      },
    };
  }

  #protocol(): Components {
    if (!this.#schemas) {
      const schemas = protocolSchemas('draft-07');
      const framed = OPERATION_NAMES.filter(namesConnection).map((name): [string, JsonSchema] => {
        const params = schemas[`${name}.params`]!;
        const required = (params.required as readonly string[]).filter((field) => field !== 'connectionId');
        return [`${name}.frame`, { ...params, required }];
      });
      this.#schemas = { ...schemas, ...Object.fromEntries(framed) };
    }
    return this.#schemas;
  }

  #servers(): object {
    const { http, socket } = asyncApiSecurity(this.#facts.auth);
    const variables = {
      host: { default: 'localhost', description: 'Host and port, as the caller knows them' },
      mount: { default: '', description: 'Path that the gateway is mounted at, empty at the root' },
    };
    const below = { host: '{host}', pathname: '{mount}', variables };
    return {
      http: { ...below, protocol: 'http', description: 'Or https', security: http },
      webSocket: { ...below, protocol: 'ws', description: 'Or wss', security: socket },
      ...(this.#facts.unixSocket && {
        unixSocket: {
          host: '{socketPath}',
          protocol: 'unix',
          description: 'The Unix socket of the gateway',
          variables: { socketPath: { description: 'Path of the socket file' } },
          security: socket,
        },
      }),
    };
  }

  #channels(methods: readonly DescribedMethod[]): Readonly<Record<string, DocumentedChannel>> {
    const sockets = socketOperations(methods);
    return {
      ...streamChannels(methods),
      webSocket: {
        address: WEBSOCKET_PATH,
        server: 'webSocket',
        description: 'Frames, one JSON object a text message',
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
        operations: sockets,
      },
      ...(this.#facts.unixSocket && {
        unixSocket: {
          address: null,
          server: 'unixSocket',
          description: 'Frames, one JSON object a line',
          operations: sockets,
        },
      }),
    };
  }
}

const http = (method: 'GET' | 'POST'): object => ({ http: { method, bindingVersion: '0.3.0' } });

function streamChannels(methods: readonly DescribedMethod[]): Readonly<Record<string, DocumentedChannel>> {
  const streaming = methods.filter(({ stream }) => stream);
  const calls = streaming.map(({ name }) => `call.${name}`);
  return {
    events: {
      address: EVENTS_PATH,
      server: 'http',
      description: 'The events of sessions, as Server-Sent Events',
      operations: {
        follow: {
          action: 'send',
          summary: ROUTES.events.summary,
          messages: EVENTS.map((type) => `sse.${type}`),
          bindings: http('GET'),
        },
      },
    },
    ...Object.fromEntries(RUN_OPERATIONS.map((name) => [name, runChannel(name)])),
    ...(streaming.length > 0 && {
      invoke: {
        address: OPERATIONS.invoke.path,
        server: 'http',
        description: 'A call of a streaming method, answered with its items as Server-Sent Events',
        operations: {
          invoke: {
            action: 'receive' as const,
            summary: ROUTES.invoke.summary,
            messages: calls,
            reply: ['sse.chunk', 'sse.mark', 'sse.ping', 'sse.end', 'sse.fail'],
            bindings: http('POST'),
          },
        },
      },
    }),
  };
}

function runChannel(name: RunOperation): DocumentedChannel {
  return {
    address: OPERATIONS[name].path,
    server: 'http',
    description: 'An operation that begins a run, answered with its events as Server-Sent Events',
    operations: {
      [name]: {
        action: 'receive',
        summary: ROUTES[name].summary,
        messages: [`body.${name}`],
        reply: RUN_EVENTS.map((type) => `sse.${type}`),
        bindings: http('POST'),
      },
    },
  };
}

function socketOperations(methods: readonly DescribedMethod[]): Readonly<Record<string, Operation>> {
  const operations = OPERATION_NAMES.map((name): [string, Operation] => [
    name,
    {
      action: 'receive',
      summary: ROUTES[name].summary,
      messages: [`req.${name}`],
      reply: [...(isStreamed(name) ? [`chunk.${name}`] : []), `res.${name}`, 'res.error'],
    },
  ]);
  const calls = methods.map(({ name, description, stream }): [string, Operation] => [
    `method.${name}`,
    {
      action: 'receive',
      summary: description,
      messages: [`req.method.${name}`],
      reply: [...(stream ? [`chunk.method.${name}`] : []), `res.method.${name}`, 'res.error'],
    },
  ]);
  return {
    connect: {
      action: 'receive',
      summary: 'Open the connection',
      messages: ['connect'],
      reply: ['event.connected', 'error'],
    },
    auth: {
      action: 'receive',
      summary: 'Refresh the token',
      messages: ['auth'],
      reply: ['authenticated', 'error'],
    },
    ping: { action: 'receive', summary: 'Ask for a sign of life', messages: ['ping'], reply: ['pong'] },
    pong: { action: 'receive', summary: 'A sign of life, which is passed over', messages: ['pong'] },
    more: { action: 'receive', summary: 'Allow more chunks', messages: ['more'] },
    cancel: { action: 'receive', summary: 'End a method call', messages: ['cancel'] },
    ...Object.fromEntries([...operations, ...calls]),
    events: {
      action: 'send',
      summary: 'The events of the sessions that the connection follows',
      messages: EVENTS.map((type) => `event.${type}`),
    },
    errors: { action: 'send', summary: 'Errors that belong to no request', messages: ['error'] },
  };
}

function channelOf({ address, server, description, bindings, operations }: DocumentedChannel): object {
  const names = Object.values(operations).flatMap(({ messages, reply = [] }) => [...messages, ...reply]);
  return {
    address,
    description,
    servers: [{ $ref: `#/servers/${server}` }],
    messages: Object.fromEntries(
      [...new Set(names)].map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    ...(bindings && { bindings }),
  };
}

function operationOf(channel: string, { action, summary, messages, reply, bindings }: Operation): object {
  const refs = (names: readonly string[]): object[] =>
    names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` }));
  const at = { $ref: `#/channels/${channel}` };
  return {
    action,
    channel: at,
    ...(summary !== undefined && { summary }),
    messages: refs(messages),
    ...(reply && { reply: { channel: at, messages: refs(reply) } }),
    ...(bindings && { bindings }),
  };
}
