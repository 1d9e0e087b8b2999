import { types } from 'node:util';
import { cut } from '../../shared/cut.js';
import { isGatewayError } from '../../shared/errors.js';
import { StoreError } from '../stores/append.js';

/** Bounds of one log line. Values beyond them are named, but not written. */
const MAX_DEPTH = 6;
const MAX_FIELDS = 50;
const MAX_TEXT = 8192;
const MAX_NODES = 500;

type LoggedJson = string | number | boolean | null | LoggedJson[] | { [name: string]: LoggedJson };

/**
 * A JSON copy of any value, for the log: host code may throw cycles, proxies, failing getters, or megabytes. Never throws, and runs no
 * `toJSON` and no getters except those of errors.
 */
export function logValue(value: unknown): LoggedJson {
  return new LogValueWriter().write(value, []);
}

/** Whether an error says by its code what has happened: then its stack, and that of its causes, tells nothing more. */
const isExplained = (error: Error): boolean =>
  error instanceof StoreError || (isGatewayError(error) && error.code !== 'INTERNAL');

/**
 * A copy of an error with only the fields that a log needs: name, message, code and causes, and the stack of one that nobody has explained.
 * Other values are copied by `logValue`. Never throws.
 */
export function plainError(value: unknown, depth = 0, told = false): unknown {
  try {
    if (types.isProxy(value) || !(value instanceof Error) || depth > MAX_DEPTH) return logValue(value);
    const { name, message, stack, cause, code } = value as Error & { readonly code?: unknown };
    const plain = new Error(short(String(message)));
    const isTold = told || isExplained(value);
    const known = {
      name: short(String(name)),
      stack: isTold ? `${short(String(name))}: ${short(String(message))}` : short(String(stack)),
      ...(code !== undefined && { code: logValue(code) }),
      ...(cause !== undefined && { cause: plainError(cause, depth + 1, isTold) }),
    };
    for (const [field, given] of Object.entries(known))
      Object.defineProperty(plain, field, {
        value: given,
        configurable: true,
        writable: true,
        enumerable: field === 'code',
      });
    return plain;
  } catch {
    return '[unreadable]';
  }
}

class LogValueWriter {
  #nodes = 0;

  write(value: unknown, above: readonly object[]): LoggedJson {
    try {
      return this.#write(value, above);
    } catch {
      return '[unreadable]';
    }
  }

  #write(value: unknown, above: readonly object[]): LoggedJson {
    switch (typeof value) {
      case 'string':
        return short(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'object':
        return value === null ? null : this.#object(value, above);
      case 'function':
        return '[function]';
      // bigint, symbol, undefined
      default:
        return short(String(value));
    }
  }

  #object(value: object, above: readonly object[]): LoggedJson {
    // A proxy runs its owner's code on any access.
    if (types.isProxy(value)) return '[proxy]';
    if (above.includes(value)) return '[circular]';
    if (above.length >= MAX_DEPTH || ++this.#nodes > MAX_NODES) return '[…]';
    const within = [...above, value];
    if (types.isDate(value))
      return Number.isNaN(value.getTime()) ? 'Invalid Date' : Date.prototype.toISOString.call(value);
    if (types.isNativeError(value) || value instanceof Error) return this.#error(value, within);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (types.isMap(value)) return this.#list([...Map.prototype.entries.call(value)], within);
    if (types.isSet(value)) return this.#list([...Set.prototype.values.call(value)], within);
    if (Array.isArray(value)) return this.#list(value, within);
    return this.#fields(value, Object.keys(value), within);
  }

  /** Leaves out fields that libraries add to errors, such as requests with their credentials. */
  #error(error: Error, above: readonly object[]): LoggedJson {
    const names = ERROR_FIELDS.filter((name) => name in error);
    return this.#fields(error, names, above, true);
  }

  #list(items: readonly unknown[], above: readonly object[]): LoggedJson {
    const shown = items.slice(0, MAX_FIELDS).map((item) => this.write(item, above));
    return items.length > MAX_FIELDS ? [...shown, `[${items.length - MAX_FIELDS} more]`] : shown;
  }

  #fields(value: object, names: readonly string[], above: readonly object[], getters = false): LoggedJson {
    const shown = names.slice(0, MAX_FIELDS).flatMap((name): [string, LoggedJson][] => {
      try {
        const own = Object.getOwnPropertyDescriptor(value, name);
        if (own?.get && !getters) return [[short(name), '[getter]']];
        const field = (value as Record<string, unknown>)[name];
        // JSON has no undefined fields.
        return field === undefined ? [] : [[short(name), this.write(field, above)]];
      } catch {
        return [[short(name), '[unreadable]']];
      }
    });
    if (names.length > MAX_FIELDS) shown.push(['…', `${names.length - MAX_FIELDS} more`]);
    // `Object.fromEntries` defines properties, so that `__proto__` is an ordinary name.
    return Object.fromEntries(shown);
  }
}

const ERROR_FIELDS = ['name', 'message', 'stack', 'code', 'cause', 'errors'];

function short(text: string): string {
  const shown = cut(text, MAX_TEXT);
  return shown === text ? text : `${shown}[${text.length - shown.length} more]`;
}
