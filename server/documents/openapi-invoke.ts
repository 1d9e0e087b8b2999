import type { JsonSchema } from '../schema/schema.js';
import type { DescribedMethod } from './methods.js';
import { sseContent, sseMessage } from './openapi-streams.js';
import { type Components, operationSchema, refTo } from './schemas.js';

const ANYTHING: JsonSchema = {
  description: 'The result of the method; `x-methods` has its schema, if there is one',
};
const callName = ({ name }: DescribedMethod): string => `call.${name}`;

/** Named schemas of the bodies that call each method. */
export function methodSchemas(methods: readonly DescribedMethod[]): Components {
  return Object.fromEntries(
    methods.map((method) => [
      callName(method),
      {
        type: 'object',
        ...(method.description !== undefined && { description: method.description }),
        required: method.paramsRequired ? ['method', 'params'] : ['method'],
        properties: {
          method: { const: method.path },
          params: method.params,
          sessionId: { type: 'string' },
          ...(method.stream && { lastEventId: { type: 'string' } }),
        },
      },
    ]),
  );
}

/** The body of `POST /invoke`: one form for each method. */
export function invokeBody(methods: readonly DescribedMethod[]): object {
  const schema: JsonSchema =
    methods.length === 0
      ? operationSchema('invoke', 'params')
      : {
          oneOf: methods.map((method) => refTo(callName(method))),
          discriminator: {
            propertyName: 'method',
            mapping: Object.fromEntries(methods.map((method) => [method.path, refTo(callName(method)).$ref])),
          },
        };
  return { required: true, content: { 'application/json': { schema } } };
}

/** The responses of `POST /invoke`. */
export function invokeResponses(methods: readonly DescribedMethod[]): object {
  const plain = methods.filter(({ stream }) => !stream);
  const streaming = methods.filter(({ stream }) => stream);
  const item = anyResult(streaming);
  const messages = [
    sseMessage('chunk', item, 'An item; with an id where the method gives one'),
    sseMessage('mark', { type: 'null' }, 'A place without an item: its id'),
    sseMessage(
      'ping',
      { type: 'object', properties: { heartbeatMs: { type: 'number' } } },
      'The stream is alive',
    ),
    sseMessage('end', { type: 'object' }, 'There are no more items'),
    sseMessage('fail', refTo('ErrorBody'), 'The method failed; there are no more items'),
  ];
  return {
    200: {
      description: 'The result of the method, or the items of a streaming one',
      content: {
        'application/json': { schema: anyResult(plain) },
        ...(streaming.length > 0 && sseContent({ oneOf: messages })),
      },
    },
    204: { description: 'The method has returned nothing' },
  };
}

/** The result of any of the methods. A method that declares no result may return anything. */
export function anyResult(methods: readonly DescribedMethod[]): JsonSchema {
  const declared = methods.map(({ result }) => result).filter(({ $ref }) => $ref !== undefined);
  const schemas = declared.length === methods.length ? declared : [...declared, ANYTHING];
  return schemas.length > 1 ? { anyOf: schemas } : (schemas[0] ?? ANYTHING);
}

/** The value of `x-methods`: the methods by path, each with the schemas of its params and result. */
export function methodTable(methods: readonly DescribedMethod[]): object {
  return Object.fromEntries(
    methods.map(({ path, description, roles, stream, params, result, problem }) => [
      path,
      {
        ...(description !== undefined && { description }),
        ...(roles && { roles }),
        stream,
        params,
        result,
        ...(problem !== undefined && { problem }),
      },
    ]),
  );
}
