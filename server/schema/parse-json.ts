import { fieldError, GatewayError } from '../../shared/errors.js';

// A text can have a forbidden key only if it contains this key, or an escape that could spell it.
const SUSPECT = /__proto__|constructor|\\u/;
/** Levels of what carries a whole conversation: answers may have what an app said, which no limit of requests bounds. */
const HISTORY_LEVELS = 1_000;
const QUOTE = 34;
const BACKSLASH = 92;

/** The bound of depth for requests that carry a whole conversation, so that what was told to a client can come back. */
export const historyDepth = (jsonDepth: number): number => Math.max(jsonDepth, HISTORY_LEVELS);

/**
 * Parses JSON from outside.
 *
 * @throws GatewayError `INVALID_REQUEST` for bad JSON, deeper nesting than `maxDepth`, or a key that could reach a prototype.
 */
export function parseJson(text: string, maxDepth: number): unknown {
  // Check before parsing: `JSON.parse` accepts any depth, but recursive code that reads the result may not.
  checkDepth(text, maxDepth);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: 'The body is not JSON', cause });
  }
  if (SUSPECT.test(text)) checkKeys(value, maxDepth);
  return value;
}

/** @throws GatewayError `INVALID_REQUEST` if a JSON text has more levels */
export function checkDepth(text: string, maxDepth: number): void {
  if (hasBrackets(text, maxDepth) && depthOf(text, maxDepth) > maxDepth) throw tooDeep(maxDepth);
}

/**
 * Checks a value that other code has parsed. Keys are data: only those are refused by which a careless merge would reach a prototype, an own
 * `__proto__`, and a `constructor` with a `prototype`.
 *
 * @throws GatewayError `INVALID_REQUEST`, which names the path of a refused key
 */
export function checkKeys(value: unknown, maxDepth: number): void {
  const path: string[] = [];
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if (path.length >= maxDepth) throw tooDeep(maxDepth);
    for (const key of Object.keys(part)) {
      const inner = (part as Record<string, unknown>)[key];
      path.push(key);
      if (key === '__proto__' || (key === 'constructor' && hasPrototype(inner)))
        throw fieldError(path.join('.'), 'the key is not allowed', 'INVALID_REQUEST');
      walk(inner);
      path.pop();
    }
  };
  walk(value);
}

const hasPrototype = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');

/** Whether a text has more opening brackets than `limit`, also in strings. Few texts have, so few must be read character by character. */
function hasBrackets(text: string, limit: number): boolean {
  let left = limit;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) if (--left < 0) return true;
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) if (--left < 0) return true;
  return false;
}

/** Nesting of a JSON text; stops counting once it is over `limit`. */
function depthOf(text: string, limit: number): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length && deepest <= limit; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === 123 || code === 91) deepest = Math.max(deepest, ++depth);
    else if (code === 125 || code === 93) depth -= 1;
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && escaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function escaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - slashes - 1) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}

function tooDeep(maxDepth: number): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message: `JSON is limited to ${maxDepth} levels` });
}
