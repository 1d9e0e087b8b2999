import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { PayloadSummary } from '../../shared/operation-types.js';
import { toJsonSchema } from './json-schema.js';

const payloadLists = new WeakMap<object, readonly PayloadSummary[]>();

/** Summaries of declared channels, custom events, data blocks or questions, sorted by name, with the JSON Schemas of their payloads. */
export function listPayloads(schemas: Readonly<Record<string, StandardSchemaV1>>): readonly PayloadSummary[] {
  let list = payloadLists.get(schemas);
  if (!list) {
    list = Object.entries(schemas)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => {
        const { schema: payload, problem } = toJsonSchema(schema, 'input');
        return { name, payload, ...(problem !== undefined && { problem }) };
      });
    payloadLists.set(schemas, list);
  }
  return list;
}
