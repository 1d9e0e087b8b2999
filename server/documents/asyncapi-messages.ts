import {
  beginsRun,
  namesConnection,
  OPERATIONS,
  type OperationName,
  RUN_OPERATIONS,
} from '../../shared/operations.js';
import { clientFrameSchemas, serverFrameSchemas } from '../../shared/schemas/frames.js';
import type { JsonSchema } from '../schema/schema.js';
import { EVENTS } from './event-types.js';
import { EVENT_WORDS } from './event-words.js';
import type { DescribedMethod } from './methods.js';
import { anyResult } from './openapi-invoke.js';
import { ROUTES } from './routes.js';
import { convert, eventSchema, operationSchema, refTo } from './schemas.js';

/** Messages by their names. */
export type Messages = Readonly<Record<string, object>>;

/** The operations, in the order of the table. */
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

const TEXT = { type: 'string' };
const LAST_EVENT_ID = {
  ...TEXT,
  description: 'The id of the last item that was heard of: the method goes on after it, if it gives ids',
};
const EVENT_ID = {
  ...TEXT,
  description:
    'The place of the item, where the method gives one; without `data` the place alone. A client that was cut off goes on after it, with `lastEventId` of `invoke`',
};
const WINDOW = {
  type: 'integer',
  minimum: 1,
  description:
    'The number of chunks of a streaming method that may come before `more` allows more. Without it, any number',
};
const TRACEPARENT = {
  ...TEXT,
  maxLength: 256,
  description: "The caller's span, as W3C Trace Context writes it",
};
const CALL_HEADERS = { type: 'object', properties: { 'last-event-id': LAST_EVENT_ID } };
const ANSWERED = { correlationId: { location: '$message.payload#/id' } };

interface Content {
  readonly summary?: string | undefined;
  readonly payload: JsonSchema;
}

function message(name: string, { summary, payload }: Content, more: object = {}): object {
  return {
    name,
    ...(summary !== undefined && { summary }),
    contentType: 'application/json',
    ...more,
    payload,
  };
}

function object(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties };
}

/** One message of an event stream: its `event` and `id` are headers, its data is the payload. */
function streamed(event: string, content: Content): object {
  const headers = { type: 'object', required: ['event'], properties: { event: { const: event }, id: TEXT } };
  return message(event, content, { headers });
}

/** The messages of event streams. */
export function streamMessages(methods: readonly DescribedMethod[]): Messages {
  const streaming = methods.filter(({ stream }) => stream);
  const events = EVENTS.map((type) => [
    `sse.${type}`,
    streamed(type, { summary: EVENT_WORDS[type], payload: eventSchema(type) }),
  ]);
  const calls = streaming.map(({ name, path, description, params, paramsRequired }) => {
    const body = { method: { const: path }, params, sessionId: TEXT, lastEventId: LAST_EVENT_ID };
    const optional = ['sessionId', 'lastEventId'];
    const payload = object(body, paramsRequired ? optional : ['params', ...optional]);
    return [`call.${name}`, message(path, { summary: description, payload }, { headers: CALL_HEADERS })];
  });
  return {
    ...Object.fromEntries(events),
    'sse.chunk': streamed('chunk', {
      summary: 'An item of a streaming method; with an id where the method gives its place',
      payload: anyResult(streaming),
    }),
    'sse.mark': streamed('mark', {
      summary: 'A place without an item: its id. A client that was cut off goes on after the last id',
      payload: { type: 'null' },
    }),
    'sse.ping': streamed('ping', {
      summary: 'Comes first: while there is no item, a comment comes every `heartbeatMs`',
      payload: object({ heartbeatMs: { type: 'number' } }),
    }),
    'sse.end': streamed('end', { summary: 'There are no more items', payload: { type: 'object' } }),
    'sse.fail': streamed('fail', { summary: 'The method failed', payload: refTo('ErrorBody') }),
    ...Object.fromEntries(
      RUN_OPERATIONS.map((name) => [
        `body.${name}`,
        message(name, { summary: ROUTES[name].summary, payload: operationSchema(name, 'params') }),
      ]),
    ),
    ...Object.fromEntries(calls),
  };
}

/** The frames of sockets except requests. */
export function frameMessages(): Messages {
  const { connect, more, cancel, auth, ping, pong } = clientFrameSchemas;
  const { authenticated, error } = serverFrameSchemas;
  const events = EVENTS.map((type) => {
    const fields = {
      event: { const: type },
      id: TEXT,
      data: eventSchema(type),
    };
    const payload = object(fields, ['id']);
    return [`event.${type}`, message(type, { summary: EVENT_WORDS[type], payload })];
  });
  const frame = (name: string, summary: string, schema: Parameters<typeof convert>[0]): [string, object] => [
    name,
    message(name, { summary, payload: convert(schema, 'draft-07') }),
  ];
  return {
    ...Object.fromEntries([
      frame('connect', 'Opens the connection: the first frame', connect),
      frame('more', 'Allows more chunks of a streaming method', more),
      frame('cancel', 'Ends a method call, which is answered with `ABORTED` then', cancel),
      frame('auth', 'A new token of the same user', auth),
      frame('ping', 'Asks for a sign of life', ping),
      frame('pong', 'A sign of life', pong),
      frame('authenticated', 'The new token counts from now on', authenticated),
      frame(
        'error',
        'An error that belongs to no request, or the reason why the connection is closed next',
        error,
      ),
    ]),
    ...Object.fromEntries(events),
    'res.error': message(
      'res',
      {
        summary: 'The request failed',
        payload: object({
          type: { const: 'res' },
          id: TEXT,
          ok: { const: false },
          error: refTo('ErrorBody'),
        }),
      },
      ANSWERED,
    ),
  };
}

/** Requests over sockets and their answers: the operations, and each method by its path. */
export function requestMessages(methods: readonly DescribedMethod[]): Messages {
  const operations = OPERATION_NAMES.flatMap((name) => [
    [`req.${name}`, request(name, ROUTES[name].summary, frameParams(name))],
    [`res.${name}`, response(name, frameResult(name))],
  ]);
  const calls = methods.flatMap(({ name, path, description, params, paramsRequired, stream, result }) => [
    [`req.method.${name}`, request(path, description, params, paramsRequired)],
    ...(stream ? [[`chunk.method.${name}`, item(path, result)]] : []),
    [`res.method.${name}`, response(path, stream ? {} : result)],
  ]);
  return {
    'chunk.invoke': item('a streaming method', {}),
    'chunk.export': item('export', operationSchema('export', 'result')),
    ...Object.fromEntries(operations),
    ...Object.fromEntries(calls),
  };
}

function request(method: string, summary: string | undefined, params: JsonSchema, required = false): object {
  const fields = {
    ...{ type: { const: 'req' }, id: TEXT, method: { const: method }, params },
    ...{ window: WINDOW, traceparent: TRACEPARENT },
  };
  const optional = [...(required ? [] : ['params']), 'window', 'traceparent'];
  return message(method, { summary, payload: object(fields, optional) }, ANSWERED);
}

function response(method: string, result: JsonSchema): object {
  // A result of `undefined` leaves the payload out.
  const fields = { type: { const: 'res' }, id: TEXT, ok: { const: true }, payload: result };
  return message(
    'res',
    { summary: `The answer of ${method}`, payload: object(fields, ['payload']) },
    ANSWERED,
  );
}

function item(method: string, result: JsonSchema): object {
  const fields = { type: { const: 'chunk' }, id: TEXT, data: result, eventId: EVENT_ID };
  const payload = object(fields, ['data', 'eventId']);
  return message('chunk', { summary: `An item of ${method}`, payload }, ANSWERED);
}

function frameParams(name: OperationName): JsonSchema {
  return namesConnection(name) ? refTo(`${name}.frame`) : operationSchema(name, 'params');
}

/** The result of an operation over a socket. A run is answered at acceptance, and an export once its chunks are sent. */
function frameResult(name: OperationName): JsonSchema {
  if (name === 'export') return {};
  return beginsRun(name) ? refTo('Accepted') : operationSchema(name, 'result');
}
