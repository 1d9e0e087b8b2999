import { GatewayError } from '../../shared/errors.js';

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
// A text can have a forbidden key only if it contains the key, or an escape that could spell it.
const SUSPECT = /__proto__|constructor|prototype|\\u/;
const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Parses JSON from outside.
 *
 * @throws GatewayError `INVALID_REQUEST` for bad JSON, deeper nesting than `maxDepth`, or a key that would reach a prototype.
 */
export function parseJson(text: string, maxDepth: number): unknown {
  // Check before parsing: `JSON.parse` accepts any depth, but recursive code that reads the result may not.
  if (hasBrackets(text, maxDepth) && depthOf(text, maxDepth) > maxDepth) throw tooDeep(maxDepth);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: 'The body is not JSON' });
  }
  if (SUSPECT.test(text)) checkKeys(value, maxDepth);
  return value;
}

/** Checks a value that other code has parsed. @throws GatewayError `INVALID_REQUEST` */
export function checkKeys(value: unknown, maxDepth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (maxDepth === 0) throw tooDeep(maxDepth);
  for (const key of Object.keys(value)) {
    if (FORBIDDEN.has(key)) {
      throw new GatewayError({ code: 'INVALID_REQUEST', message: `The key ${key} is not allowed` });
    }
    checkKeys((value as Record<string, unknown>)[key], maxDepth - 1);
  }
}

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
