import type { EventType } from '../../shared/events.js';
import type { JsonSchema } from '../schema/schema.js';
import { EVENTS, RUN_EVENTS } from './event-types.js';
import { EVENT_WORDS } from './event-words.js';
import { type Components, eventSchema, operationSchema, refTo } from './schemas.js';

/** Schema of one message of an event stream whose data is JSON. */
export function sseMessage(event: string, data: JsonSchema, description?: string): JsonSchema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    required: ['event', 'data'],
    properties: {
      event: { const: event },
      id: { type: 'string' },
      data: { type: 'string', contentMediaType: 'application/json', contentSchema: data },
    },
  };
}

function messageOf(events: readonly EventType[]): JsonSchema {
  return { oneOf: events.map((type) => refTo(`sse.${type}`)) };
}

/** Named schemas of the messages of event streams. */
export function sseSchemas(): Components {
  return {
    ...Object.fromEntries(
      EVENTS.map((type) => [`sse.${type}`, sseMessage(type, eventSchema(type), EVENT_WORDS[type])]),
    ),
    EventMessage: messageOf(EVENTS),
    RunMessage: messageOf(RUN_EVENTS),
  };
}

/** The content of an event stream. */
export function sseContent(schema: JsonSchema): object {
  return { 'text/event-stream': { schema } };
}

/** The response of `GET /events`. */
export function eventsResponse(): object {
  return {
    200: {
      description: 'The events, the first of them `connected`',
      content: sseContent(refTo('EventMessage')),
    },
  };
}

/** The response of `GET /export`. */
export function exportResponse(): object {
  return {
    200: {
      description: 'One message or event a line. An answer that is cut short was not the whole',
      content: { 'application/x-ndjson': { schema: operationSchema('export', 'result') } },
    },
  };
}

/** The three responses of an operation that begins a run. */
export function runResponses(): object {
  const json = { 'application/json': { schema: refTo('RunResult') } };
  return {
    200: {
      description: 'The events of the run from `message_accepted` to `message_end`, or its result',
      content: { ...sseContent(refTo('RunMessage')), ...json },
    },
    202: {
      description: 'The message was accepted',
      headers: { 'Preference-Applied': { description: '`respond-async`', schema: { type: 'string' } } },
      content: { 'application/json': { schema: refTo('Accepted') } },
    },
  };
}
