import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { MethodContext } from '../../shared/method.js';
import type { MethodSummary } from '../../shared/operation-types.js';
import { type JsonSchemaConversion, toJsonSchema } from '../schema/json-schema.js';
import { holdsAnyRole } from './call.js';
import type { MethodEntry } from './flatten.js';

export { listPayloads } from '../schema/payloads.js';

const summaries = new WeakMap<MethodEntry, MethodSummary>();

/** The methods whose roles the user holds, sorted by path. Guards are not asked, because they decide on calls, not on lists. */
export function listMethods(
  entries: ReadonlyMap<string, MethodEntry>,
  user: MethodContext['user'],
): readonly MethodSummary[] {
  return methodsOf(entries, user)
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(summaryOf);
}

/** The methods whose roles the user holds. */
export function methodsOf(
  entries: ReadonlyMap<string, MethodEntry>,
  user: MethodContext['user'],
): MethodEntry[] {
  return [...entries.values()].filter(
    ({ definition }) => !definition.roles || holdsAnyRole(user, definition.roles),
  );
}

/** The summary of a method, made once: a thousand schemas are too much work for every request. */
function summaryOf(entry: MethodEntry): MethodSummary {
  let summary = summaries.get(entry);
  if (!summary) {
    summary = summarize(entry);
    summaries.set(entry, summary);
  }
  return summary;
}

function summarize({ path, stream, definition }: MethodEntry): MethodSummary {
  const { description, roles, schema, result } = definition;
  const none: JsonSchemaConversion = { schema: null };
  const params = schema ? toJsonSchema(schema, 'input') : none;
  const output = result ? toJsonSchema(result, 'output') : none;
  const problems = Object.entries({ params: params.problem, result: output.problem }).filter(
    ([, problem]) => problem,
  );
  return {
    path,
    ...(description !== undefined && { description }),
    ...(roles && { roles }),
    stream,
    params: params.schema,
    ...(params.schema && mayBeLeftOut(schema!) && { paramsOptional: true }),
    result: output.schema,
    ...(problems.length > 0 && {
      problem: problems.map(([side, problem]) => `${side}: ${problem}`).join('; '),
    }),
  };
}

/** Whether params may be left out. Only zod's schemas tell. */
function mayBeLeftOut(schema: StandardSchemaV1): boolean {
  return (schema as { readonly _zod?: { readonly optin?: string } })._zod?.optin === 'optional';
}
