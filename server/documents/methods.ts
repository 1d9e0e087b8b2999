import type { MethodContext } from '../../shared/method.js';
import type { MethodSummary } from '../../shared/operation-types.js';
import { listMethods } from '../methods/catalogue.js';
import type { MethodEntry } from '../methods/flatten.js';
import { type AnySchema, isStandardSchema, type JsonSchema } from '../schema/schema.js';
import { embed } from './embed.js';
import { COMPONENTS, type Components, refTo } from './schemas.js';

/** A document's description of a method. */
export interface DescribedMethod extends MethodSummary {
  /** Its path as a valid component name, which no two methods share. */
  readonly name: string;
  /** The schema of its params; `{}`, which accepts anything, if the method has none. */
  readonly params: JsonSchema;
  /** The schema of its result, or of each item of a stream. */
  readonly result: JsonSchema;
  /** Whether a call without params is refused; false for schemas that cannot say so. */
  readonly paramsRequired: boolean;
  readonly components: Components;
}

/** Describes the methods of a gateway. It keeps converted schemas, because a thousand of them are too many for every request. */
export class MethodDescriber {
  readonly #entries: ReadonlyMap<string, MethodEntry>;
  readonly #names: ReadonlyMap<string, string>;
  readonly #described = new Map<string, DescribedMethod>();

  constructor(entries: ReadonlyMap<string, MethodEntry>) {
    this.#entries = entries;
    this.#names = componentNames([...entries.keys()].sort());
  }

  /** The methods whose roles a user holds, in the order of `GET /methods`. */
  visibleTo(user: MethodContext['user']): readonly DescribedMethod[] {
    return listMethods(this.#entries, user).map((summary) => this.#describe(summary));
  }

  #describe(summary: MethodSummary): DescribedMethod {
    let described = this.#described.get(summary.path);
    if (!described) {
      described = this.#make(summary);
      this.#described.set(summary.path, described);
    }
    return described;
  }

  #make(summary: MethodSummary): DescribedMethod {
    const name = this.#names.get(summary.path)!;
    const components: Record<string, JsonSchema> = {};
    const problems = summary.problem === undefined ? [] : [summary.problem];
    const take = (side: 'params' | 'result'): JsonSchema => {
      const schema = summary[side] as JsonSchema | null;
      if (schema === null) return {};
      const id = `${side}.${name}`;
      const embedded = embed(schema, `${COMPONENTS}${id}`);
      if (embedded.problem !== undefined) problems.push(`${side}: ${embedded.problem}`);
      if (typeof embedded.schema !== 'object' || embedded.schema === null) return {};
      components[id] = embedded.schema;
      return refTo(id);
    };
    const { problem: _told, ...rest } = summary;
    return {
      ...rest,
      name,
      params: take('params'),
      result: take('result'),
      paramsRequired: refusesAbsence(this.#entries.get(summary.path)?.definition.schema),
      components,
      ...(problems.length > 0 && { problem: problems.join('; ') }),
    };
  }
}

/** Valid component names, in the order of the paths: `tasks:create` is `tasks.create`. */
function componentNames(paths: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const path of paths) {
    const plain = path.replaceAll(':', '.').replace(/[^A-Za-z0-9._-]/g, '_');
    let name = plain;
    for (let next = 2; taken.has(name); next += 1) name = `${plain}_${next}`;
    taken.add(name);
    names.set(path, name);
  }
  return names;
}

/** Whether a schema is known to refuse `undefined`, without validating a value. */
function refusesAbsence(schema: AnySchema | undefined): boolean {
  if (schema === undefined) return false;
  if (!isStandardSchema(schema)) return true;
  const { _zod } = schema as { readonly _zod?: { readonly optin?: string } };
  return _zod !== undefined && _zod.optin !== 'optional';
}
