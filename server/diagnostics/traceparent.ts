import type { ParentSpan } from '../../shared/method.js';

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const ZEROS = /^0+$/;

/** Formats the header for a span, which becomes the parent of the callee's. */
export function formatTraceparent({ traceId, spanId, traceFlags }: ParentSpan): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`;
}

/** Parses a `traceparent` header of W3C Trace Context; null if it is invalid. Later versions may add fields behind the known ones. */
export function parseTraceparent(header: string): ParentSpan | null {
  const found = FORM.exec(header);
  if (!found) return null;
  const [whole, version, traceId = '', spanId = '', flags = ''] = found;
  if (version === 'ff' || (version === '00' && whole !== header)) return null;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}
