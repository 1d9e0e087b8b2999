import * as z from 'zod';
import type { EventType } from '../../shared/events.js';
import type { OperationName } from '../../shared/operations.js';
import { errorBodySchema } from '../../shared/schemas/errors.js';
import { eventDataSchemas } from '../../shared/schemas/events.js';
import {
  childAnswerSchema,
  contentBlockSchema,
  laneMessageSchema,
  messageSchema,
  steeringMessageSchema,
  usageSchema,
} from '../../shared/schemas/messages.js';
import {
  acceptedSchema,
  operationSchemas,
  runResultSchema,
  subscribeTargetSchema,
} from '../../shared/schemas/operations.js';
import { laneRunSchema, sessionStateSchema } from '../../shared/schemas/state.js';
import type { JsonSchema } from '../schema/schema.js';

/** Named schemas of a document. */
export type Components = Readonly<Record<string, JsonSchema>>;

/** JSON Pointer of the named schemas in documents of both formats. */
export const COMPONENTS = '#/components/schemas/';

/** A reference to a named schema. */
export function refTo(name: string): JsonSchema {
  return { $ref: `${COMPONENTS}${name}` };
}

/** The name of the data of an event. */
export function eventSchemaName(type: string): string {
  return `event.${type}`;
}

interface NamedSchema {
  readonly id: string;
  readonly oneOf?: readonly JsonSchema[];
}

const NAMES = nameSchemas();

function nameSchemas(): z.core.$ZodRegistry<NamedSchema> {
  const names = z.registry<NamedSchema>();
  const add = (schema: z.ZodType, named: NamedSchema): void => {
    if (!names.has(schema)) names.add(schema, named);
  };
  add(messageSchema, { id: 'Message' });
  add(laneMessageSchema, { id: 'LaneMessage' });
  add(steeringMessageSchema, { id: 'SteeringMessage' });
  add(childAnswerSchema, { id: 'ChildAnswer' });
  add(laneRunSchema, { id: 'LaneRun' });
  add(contentBlockSchema, { id: 'ContentBlock' });
  add(usageSchema, { id: 'Usage' });
  add(errorBodySchema, { id: 'ErrorBody' });
  add(sessionStateSchema, { id: 'SessionState' });
  add(subscribeTargetSchema, { id: 'SubscribeTarget' });
  add(runResultSchema, { id: 'RunResult' });
  add(acceptedSchema, { id: 'Accepted' });
  add(operationSchemas.close.result, { id: 'Ok' });
  add(operationSchemas.openapi.params, { id: 'NoParams' });
  add(operationSchemas.openapi.result, { id: 'ApiDocument' });
  // A refinement requires exactly one of the two fields, and zod does not convert refinements.
  const oneOf = [{ required: ['message'] }, { required: ['messages'] }];
  add(operationSchemas.send.params, { id: 'send.params', oneOf });
  for (const [operation, { params, result }] of Object.entries(operationSchemas)) {
    add(params, { id: `${operation}.params` });
    add(result, { id: `${operation}.result` });
  }
  for (const [type, schema] of Object.entries(eventDataSchemas)) add(schema, { id: eventSchemaName(type) });
  return names;
}

/** The name of the params or the result of an operation. */
export function operationSchemaName(operation: OperationName, side: 'params' | 'result'): string {
  return NAMES.get(operationSchemas[operation][side])!.id;
}

/** A reference to the params or the result of an operation. */
export function operationSchema(operation: OperationName, side: 'params' | 'result'): JsonSchema {
  return refTo(operationSchemaName(operation, side));
}

/** A reference to the data of an event. */
export function eventSchema(type: EventType): JsonSchema {
  return refTo(eventSchemaName(type));
}

/** Every named schema of the protocol. Objects are left open, because clients ignore unknown fields. */
export function protocolSchemas(): Components {
  const { schemas } = z.toJSONSchema(NAMES, {
    target: 'draft-2020-12',
    io: 'input',
    metadata: NAMES,
    uri: (id) => `${COMPONENTS}${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema as JsonSchema]),
  );
}

/** The schemas that a document refers to, directly or through others. */
export function usedSchemas(document: unknown, all: Components): Components {
  const used = new Map<string, JsonSchema>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === '$ref' && typeof value === 'string' && value.startsWith(COMPONENTS)) {
        const name = value.slice(COMPONENTS.length).split('/', 1)[0]!;
        const schema = all[name];
        if (schema && !used.has(name)) {
          used.set(name, schema);
          visit(schema);
        }
      } else visit(value);
    }
  };
  visit(document);
  return Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}
