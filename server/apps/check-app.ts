import { type ErrorCode, fieldError } from '../../shared/errors.js';
import { checkSchema } from '../schema/check-schema.js';
import { isPlainObject } from '../schema/schema.js';
import type { Application } from './application.js';
import { checkCompact } from './compaction.js';
import { checkConfirm } from './confirm-policy.js';
import { checkGuard } from './guard.js';
import type { Tool } from './tool.js';
import type { OnMismatch } from './versions.js';

const MISMATCHES: ReadonlySet<unknown> = new Set<OnMismatch>(['hold', 'ask', 'restart', 'end']);
const MAX_VERSION = 128;

function checkVersions(
  { version, accepts, onMismatch = 'hold' }: Application,
  at: string,
  code: ErrorCode,
): void {
  const isVersion = (given: unknown): boolean =>
    typeof given === 'string' && given !== '' && given.length <= MAX_VERSION;
  if (version !== undefined && !isVersion(version))
    throw fieldError(`${at}version`, `must be a text of 1 to ${MAX_VERSION} characters`, code);
  const isList = Array.isArray(accepts) && accepts.every(isVersion);
  if (accepts !== undefined && (version === undefined || !(accepts === '*' || isList)))
    throw fieldError(
      `${at}accepts`,
      "must be a list of versions, or '*', of an app that has a version",
      code,
    );
  if (!MISMATCHES.has(onMismatch))
    throw fieldError(`${at}onMismatch`, `must be one of ${[...MISMATCHES].join(', ')}`, code);
}

/** Marks an app whose framework asks people. */
export const ASKS: unique symbol = Symbol('asks');

const TOOL_FIELDS: ReadonlySet<string> = new Set<keyof Tool<unknown, unknown>>([
  '~types',
  'description',
  'title',
  'hints',
  'schema',
  'runsOn',
  'confirm',
  'confirmMessage',
  'handler',
]);

/**
 * Refuses an app that cannot answer, or whose tools, data blocks or questions would be checked by nothing.
 *
 * @param at Path of the app with a dot behind it, or empty.
 * @throws GatewayError `INVALID_PARAMS`, or `code`, that names the tool and the field
 */
export function checkApp(app: Application, at = '', code: ErrorCode = 'INVALID_PARAMS'): void {
  if (typeof app?.run !== 'function')
    throw fieldError(`${at}run`, 'an app needs a run function, as in { async *run(turn) { … } }', code);
  checkSuggestions(app.suggestions, `${at}suggestions`, code);
  checkVersions(app, at, code);
  checkGuard(app.guard, `${at}guard`, code);
  checkCompact(app.compact, `${at}compact`, code);
  for (const [name, tool] of Object.entries(recordOf(app.tools, `${at}tools`, code)))
    checkTool(tool, `${at}tools.${name}`, code);
  for (const kind of ['data', 'questions'] as const)
    for (const [name, schema] of Object.entries(recordOf(app[kind], `${at}${kind}`, code)))
      checkSchema(schema, `${at}${kind}.${name}`, code);
}

/** Whether an app says that it asks people: by a tool that asks or runs at the client, or by a question. */
export function asks({
  tools,
  questions,
  [ASKS]: isMarked,
}: Application & { readonly [ASKS]?: boolean }): boolean {
  const asked = Object.values(recordOf(tools, 'tools', 'INVALID_PARAMS')) as readonly Tool<
    unknown,
    unknown
  >[];
  return (
    isMarked === true ||
    Object.keys(recordOf(questions, 'questions', 'INVALID_PARAMS')).length > 0 ||
    asked.some(({ confirm, runsOn }) => Boolean(confirm) || runsOn === 'client')
  );
}

function checkSuggestions(given: unknown, path: string, code: ErrorCode): void {
  if (given === undefined) return;
  if (!Array.isArray(given)) throw fieldError(path, 'must be an array of texts', code);
  for (const [at, each] of given.entries()) {
    const { text, shows = '' }: Readonly<Record<string, unknown>> = isPlainObject(each)
      ? each
      : { text: each };
    if (typeof text !== 'string' || text === '' || typeof shows !== 'string')
      throw fieldError(`${path}.${at}`, 'must be a text, or { text, shows }', code);
  }
}

function recordOf(given: unknown, path: string, code: ErrorCode): Readonly<Record<string, unknown>> {
  if (given === undefined) return {};
  if (isPlainObject(given)) return given;
  throw fieldError(path, 'must be an object, by name', code);
}

function checkTool(given: unknown, path: string, code: ErrorCode): void {
  if (!isPlainObject(given)) throw fieldError(path, 'must be a tool: tool({ … })', code);
  const unknown = Object.keys(given).find((field) => !TOOL_FIELDS.has(field));
  if (unknown !== undefined)
    throw fieldError(`${path}.${unknown}`, 'unknown field; a tool has schema and handler', code);
  const { schema, runsOn = 'server', confirm, handler } = given as unknown as Tool<unknown, unknown>;
  if (schema !== undefined) checkSchema(schema, `${path}.schema`, code);
  if (runsOn !== 'server' && runsOn !== 'client')
    throw fieldError(`${path}.runsOn`, "must be 'server' or 'client'", code);
  if (runsOn === 'server' && typeof handler !== 'function')
    throw fieldError(
      `${path}.handler`,
      "must be a function; the user's client runs a tool with runsOn: 'client'",
      code,
    );
  if (typeof confirm === 'object') checkConfirm(confirm, `${path}.confirm`);
}
