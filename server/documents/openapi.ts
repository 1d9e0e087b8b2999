import { FEATURE_FOLLOWS } from '../../shared/features.js';
import type { MethodContext } from '../../shared/method.js';
import type { ApiDocument } from '../../shared/operation-types.js';
import { beginsRun, isOperation, type OperationName } from '../../shared/operations.js';
import { operationSchemas } from '../../shared/schemas/operations.js';
import { PROTOCOL_VERSION } from '../../shared/version.js';
import { TAGS } from '../../shared/words.js';
import { type Destination, routeTable } from '../transports/http/routes.js';
import { type GatewayFacts, infoOf } from './facts.js';
import { type DescribedMethod, MethodDescriber } from './methods.js';
import { errorExamples, errorResponses, errorSchemas } from './openapi-errors.js';
import { FILE_PARAMETERS, fileResponses, uploadBody, uploadResponse } from './openapi-files.js';
import { invokeBody, invokeResponses, methodSchemas, methodTable } from './openapi-invoke.js';
import { eventsResponse, exportResponse, runResponses, sseSchemas } from './openapi-streams.js';
import { type Described, ROUTES } from './routes.js';
import {
  type Components,
  operationSchema,
  operationSchemaName,
  protocolSchemas,
  usedSchemas,
} from './schemas.js';
import { openApiSecurity } from './security.js';

const ABOUT = `Sessions with conversational apps and typed methods, over HTTP and Server-Sent Events. The same operations are there over WebSockets and Unix sockets, as frames with the same params, results and events.

OpenAPI 3.1 has no words for event streams. The schema of a \`text/event-stream\` is that of one message of the stream, as \`itemSchema\` is in OpenAPI 3.2: \`event\`, \`id\` and \`data\`, whose content is JSON. Streams also carry \`retry:\` lines and comments.

Objects are open: a later version may add fields, event types and error codes.`;

const TEXT = { type: 'string' };

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** Writes the OpenAPI document of a gateway. */
export class OpenApiWriter {
  readonly #facts: GatewayFacts;
  readonly #methods: MethodDescriber;
  #schemas: Components | null = null;

  constructor(facts: GatewayFacts) {
    this.#facts = facts;
    this.#methods = new MethodDescriber(facts.methods);
  }

  /** The document for a caller, with the methods whose roles the user holds. */
  write(user: MethodContext['user']): ApiDocument {
    const methods = this.#methods.visibleTo(user);
    const { auth, extraRoutes } = this.#facts;
    const routes = [...routeTable(extraRoutes)].map(([path, { http, to }]) => ({
      path,
      http,
      described: describedAs(to),
    }));
    const paths = Object.fromEntries(
      routes.map(({ path, http, described }) => [
        path,
        { [http.toLowerCase()]: this.#operation(described, http, methods) },
      ]),
    );
    const components = Object.assign({}, ...methods.map((method) => method.components));
    const all = { ...this.#protocol(), ...components, ...methodSchemas(methods) };
    const { security, securitySchemes } = openApiSecurity(auth);
    return {
      openapi: '3.1.1',
      info: infoOf(this.#facts, PROTOCOL_VERSION, ABOUT),
      jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base',
      servers: [
        {
          url: mountFrom(extraRoutes),
          description: 'The mount of the gateway, relative to this document',
        },
      ],
      security,
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        schemas: usedSchemas(paths, all),
        examples: errorExamples(routes.map(({ described }) => described)),
        securitySchemes,
      },
    };
  }

  /** Query parameters of an operation, from the schema of its params. */
  #parameters(described: Described): readonly object[] {
    if (!isOperation(described)) return HEADERS[described] ?? [];
    const { properties = {}, required = [] } = this.#protocol()[
      operationSchemaName(described, 'params')
    ] as ObjectSchema;
    return Object.entries(properties).map(([name, schema]) =>
      query(name, schema, PARAMETERS[name], required.includes(name)),
    );
  }

  #protocol(): Components {
    this.#schemas ??= { ...protocolSchemas(), ...sseSchemas(), ...errorSchemas };
    return this.#schemas;
  }

  #operation(described: Described, http: 'GET' | 'POST', methods: readonly DescribedMethod[]): object {
    const { tag, summary, description } = ROUTES[described];
    const { eventsSecurity } = openApiSecurity(this.#facts.auth);
    const parameters = http === 'GET' ? this.#parameters(described) : (HEADERS[described] ?? []);
    const security =
      described === 'live' || described === 'ready'
        ? []
        : described === 'events'
          ? eventsSecurity
          : undefined;
    return {
      operationId: described,
      tags: [tag],
      summary,
      ...(description !== undefined && { description }),
      ...(security && { security }),
      ...(parameters.length > 0 && { parameters }),
      ...(http === 'POST' && { requestBody: bodyOf(described, methods) }),
      responses: { ...answersOf(described, methods), ...errorResponses(described) },
      ...(described === 'invoke' && { 'x-methods': methodTable(methods) }),
    };
  }
}

function describedAs(to: Destination): Described {
  return to === 'healthz' ? 'live' : to === 'readyz' ? 'ready' : to;
}

/** The gateway's mount, relative to the document, which is served below the prefix of the extra routes. */
function mountFrom(extraRoutes: GatewayFacts['extraRoutes']): string {
  const depth = (extraRoutes || '').split('/').length - 1;
  return depth === 0 ? '.' : Array(depth).fill('..').join('/');
}

function bodyOf(described: Described, methods: readonly DescribedMethod[]): object {
  if (described === 'upload') return uploadBody;
  if (described === 'invoke') return invokeBody(methods);
  const name = described as OperationName;
  // A request without a body counts as one without params.
  const required = !operationSchemas[name].params.safeParse({}).success;
  return { required, content: { 'application/json': { schema: operationSchema(name, 'params') } } };
}

function answersOf(described: Described, methods: readonly DescribedMethod[]): object {
  if (beginsRun(described)) return runResponses();
  if (described === 'invoke') return invokeResponses(methods);
  if (described === 'events') return eventsResponse();
  if (described === 'export') return exportResponse();
  if (described === 'upload') return uploadResponse;
  if (described === 'file') return fileResponses;
  // Health routes answer `{ ok: true }`, like `close`.
  const schema = operationSchema(isOperation(described) ? described : 'close', 'result');
  return { 200: { description: 'The answer', content: { 'application/json': { schema } } } };
}

const RUN_HEADERS = [
  header('Idempotency-Key', 'The same as `idempotencyKey` in the body'),
  header('Prefer', '`respond-async` for an answer as soon as the message is accepted'),
  header('Last-Event-ID', 'Resumes the stream of the same request, repeated'),
];

const HEADERS: Readonly<Partial<Record<Described, readonly object[]>>> = {
  ...FILE_PARAMETERS,
  events: [
    query('sessionId', { type: 'array', items: TEXT, default: [] }, 'Sessions to follow; repeatable'),
    query(
      'from',
      { enum: ['now', 'run', 'earliest', 'snapshot'], default: 'now' },
      'The place to start from without a cursor',
    ),
    ...Object.values(FEATURE_FOLLOWS).map((words) =>
      query(words.query, { type: 'boolean', default: false }, words.summary),
    ),
    query('lastEventId', TEXT, 'The same as `Last-Event-ID`, for clients that cannot set it'),
    header('Last-Event-ID', 'The last `id` seen: the stream goes on after it'),
  ],
  send: RUN_HEADERS,
  regenerate: RUN_HEADERS,
};

const PARAMETERS: Readonly<Record<string, string>> = {
  sessionId: 'The session',
  limit: 'How many at most',
  before: 'The `cursor` of the page before',
  what: 'The part of the session to read',
};

function query(name: string, schema: object, description = '', required = false): object {
  return { name, in: 'query', ...(required && { required }), description, schema };
}

function header(name: string, description: string): object {
  return { name, in: 'header', description, schema: TEXT };
}
