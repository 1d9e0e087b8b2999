import type { StandardSchemaV1 } from '@standard-schema/spec';
import { cut } from '../../shared/cut.js';
import { GatewayError } from '../../shared/errors.js';
import type { MethodContext, MethodTree } from '../../shared/method.js';
import { isOperation } from '../../shared/operations.js';
import { standardSchemaProblem } from '../schema/check-schema.js';
import { isPlainObject, isStandardSchema } from '../schema/schema.js';

/** A method without its types, in the form that the gateway runs. */
export interface RunnableMethod {
  readonly handler: (params: unknown, context: MethodContext) => unknown;
  readonly schema?: StandardSchemaV1;
  readonly result?: StandardSchemaV1;
  readonly roles?: readonly string[];
  readonly guard?: (context: MethodContext, params: unknown) => unknown;
  readonly description?: string;
  readonly timeoutMs?: number;
}

/** A method under its colon path. */
export interface MethodEntry {
  readonly path: string;
  readonly definition: RunnableMethod;
  readonly stream: boolean;
}

/** The longest colon path, in characters. It also bounds the depth of a tree, and so ends a tree that contains itself. */
export const MAX_PATH_LENGTH = 256;

const SEGMENT = /^[A-Za-z0-9_.@+-]+$/;
const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Lays a method tree out as one map by colon path. Only own enumerable properties are methods.
 *
 * @throws GatewayError `INVALID_REQUEST` naming the path: for a path given twice (nested and flat), reserved, malformed or too
 *   long names, names of operations, and values that are neither methods nor namespaces.
 */
export function flattenMethods(tree: MethodTree): Map<string, MethodEntry> {
  if (!isPlainObject(tree)) throw refusal('methods', 'must be an object of methods and namespaces');
  const entries = new Map<string, MethodEntry>();
  collect(tree, '', entries);
  return entries;
}

function collect(
  namespace: Readonly<Record<string, unknown>>,
  prefix: string,
  entries: Map<string, MethodEntry>,
): void {
  for (const [name, value] of Object.entries(namespace)) {
    const path = `${prefix}${name}`;
    checkName(name, path);
    const definition = readDefinition(value, path);
    if (!definition) {
      collect(value as Readonly<Record<string, unknown>>, `${path}:`, entries);
      continue;
    }
    if (isOperation(path)) throw refusal(path, 'is an operation of the protocol; choose another name');
    if (entries.has(path)) throw refusal(path, 'is declared twice, nested and with colons in its key');
    const { stream, ...rest } = definition;
    entries.set(path, { path, definition: rest, stream });
  }
}

function checkName(name: string, path: string): void {
  if (path.length > MAX_PATH_LENGTH) {
    throw refusal(cut(path, 64, '…'), `is longer than ${MAX_PATH_LENGTH} characters`);
  }
  for (const segment of name.split(':')) {
    if (segment === '') throw refusal(path, 'has an empty segment');
    if (RESERVED.has(segment)) throw refusal(path, `uses the reserved name ${segment}`);
    if (!SEGMENT.test(segment))
      throw refusal(path, 'may use A-Z a-z 0-9 _ . @ + - between its colons, nothing else');
  }
}

type Declared = RunnableMethod & { readonly stream: boolean };

/** Reads a leaf; null for a namespace. */
function readDefinition(value: unknown, path: string): Declared | null {
  if (isStandardSchema(value)) throw refusal(path, 'is a schema, not a method');
  if (typeof value === 'function') {
    return { handler: value as RunnableMethod['handler'], stream: isAsyncGeneratorFunction(value) };
  }
  if (!isPlainObject(value)) throw refusal(path, 'must be a function, method({ … }) or an object of those');
  if (value['~kind'] === 'method') return checkDefinition(value, path);
  // An unwrapped definition, read as a namespace, would publish its guard as a method and guard nothing.
  if (typeof value.handler === 'function' && Object.keys(value).some((key) => DEFINITION_FIELDS.has(key))) {
    throw refusal(path, 'looks like a definition; wrap it in method({ … })');
  }
  return null;
}

const DEFINITION_FIELDS = new Set([
  'description',
  'schema',
  'result',
  'roles',
  'guard',
  'timeoutMs',
  'stream',
]);

function checkDefinition(value: Readonly<Record<string, unknown>>, path: string): Declared {
  const { handler, schema, result, roles, guard, description, timeoutMs, stream } = value;
  if (typeof handler !== 'function') throw refusal(`${path}.handler`, 'must be a function');
  for (const [field, given] of Object.entries({ schema, result })) {
    const problem = given === undefined ? null : standardSchemaProblem(given);
    if (problem !== null) throw refusal(`${path}.${field}`, problem);
  }
  if (guard !== undefined && typeof guard !== 'function')
    throw refusal(`${path}.guard`, 'must be a function');
  if (roles !== undefined && !isRoles(roles)) {
    throw refusal(`${path}.roles`, 'must name at least one role, each a non-empty string');
  }
  if (description !== undefined && typeof description !== 'string') {
    throw refusal(`${path}.description`, 'must be a string');
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) {
    throw refusal(`${path}.timeoutMs`, 'must be a positive number of milliseconds');
  }
  if (stream !== undefined && typeof stream !== 'boolean')
    throw refusal(`${path}.stream`, 'must be a boolean');
  const generator = isAsyncGeneratorFunction(handler);
  if (generator && stream === false)
    throw refusal(`${path}.stream`, 'is false, but the handler is an async generator');
  const fields = { schema, result, roles, guard, description, timeoutMs };
  const given = Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined));
  return { ...given, handler: handler as RunnableMethod['handler'], stream: generator || stream === true };
}

function isRoles(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((role) => typeof role === 'string' && role !== '')
  );
}

function isAsyncGeneratorFunction(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object AsyncGeneratorFunction]';
}

function refusal(path: string, problem: string): GatewayError {
  const name = path === 'methods' ? path : `methods: ${JSON.stringify(path)}`;
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message: `${name} ${problem}`,
    details: [{ path: path === 'methods' ? path : `methods.${path}`, message: problem }],
  });
}
