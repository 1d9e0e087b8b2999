import { GatewayError } from '../../../shared/errors.js';
import { isCollection, noJsonFor } from '../../schema/json-text.js';

/**
 * Converts a value as a trip through JSON would, without the trip. Values that JSON can express are passed on as they are; all others are
 * replaced as `JSON.stringify` would (dates by their text, functions left out).
 *
 * @throws GatewayError `INVALID_REQUEST` for a cycle, a bigint, a `Map` and a `Set`, which JSON cannot express
 */
export function wireValue(value: unknown): unknown {
  return convert(value, []);
}

function convert(value: unknown, above: readonly object[], key = ''): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      // Adding 0 turns -0 into 0.
      return Number.isFinite(value) ? (value as number) + 0 : null;
    case 'bigint':
      throw new GatewayError({ code: 'INVALID_REQUEST', message: noJsonFor('bigint') });
    case 'object':
      return value === null ? null : convertObject(value, above, key);
    default:
      return undefined;
  }
}

function convertObject(value: object, above: readonly object[], key: string): unknown {
  if (above.includes(value)) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: 'JSON has no cycles' });
  }
  const within = [...above, value];
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === 'function') return convert(toJSON.call(value, key), within);
  if (value instanceof String || value instanceof Number || value instanceof Boolean)
    return convert(value.valueOf(), within);
  if (isCollection(value))
    throw new GatewayError({ code: 'INVALID_REQUEST', message: noJsonFor('Map or Set') });
  if (Array.isArray(value)) {
    // `map` would keep the holes of an array.
    const items = Array.from(value, (item, i) => convert(item, within, String(i)) ?? null);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  const entries = Object.entries(value);
  const converted = entries.flatMap(([name, item]) => {
    const kept = convert(item, within, name);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  const same = isPlain(value) && converted.length === entries.length;
  return same && converted.every(([, item], i) => item === entries[i]![1])
    ? value
    : Object.fromEntries(converted);
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
