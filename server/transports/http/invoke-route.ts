import type { IncomingHttpHeaders } from 'node:http';
import { accepts } from '../../accept.js';
import type { InvokeOptions } from '../../operations/invoke.js';

/** The params of a call: the body, with the `Last-Event-ID` that browsers send when they resume a stream by themselves. */
export function invokeParams(body: unknown, headers: IncomingHttpHeaders): unknown {
  const lastEventId = headers['last-event-id'];
  if (!lastEventId || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return { lastEventId, ...body };
}

const EVENTS: InvokeOptions = { expects: 'stream' };
const JSON_VALUE: InvokeOptions = { expects: 'value' };
const EITHER: InvokeOptions = {};

/** The kind of response that a caller accepts. Both kinds are fine unless its `Accept` allows exactly one of them. */
export function invokeOptions({ accept }: IncomingHttpHeaders): InvokeOptions {
  if (accept === undefined || accept === '*/*') return EITHER;
  const events = accepts(accept, 'text/event-stream');
  if (events === accepts(accept, 'application/json')) return EITHER;
  return events ? EVENTS : JSON_VALUE;
}
