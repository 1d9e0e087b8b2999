import { ERROR_TABLE, type ErrorCode } from '../../shared/errors.js';
import { FEATURE_ROUTES, type FeatureRoute } from '../../shared/features.js';
import { isOperation, OPERATIONS } from '../../shared/operations.js';
import { type Described, ROUTES } from './routes.js';

const ORIGIN = ['ORIGIN_DENIED', 'INVALID_REQUEST', 'TOO_MANY_CONNECTIONS'] as const;
const CALLER = [
  ...ORIGIN,
  'UNAUTHENTICATED',
  'ACCESS_DENIED',
  'RATE_LIMITED',
  'AUTH_UNAVAILABLE',
  'INTERNAL',
] as const;
const READING = [...CALLER, 'INVALID_PARAMS', 'OVERLOADED'] as const;
const POSTING = [...READING, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

/** The codes that every route of a kind has. */
function baseOf(described: Described): readonly ErrorCode[] {
  if (isOperation(described)) return OPERATIONS[described].http === 'GET' ? READING : POSTING;
  if (Object.hasOwn(FEATURE_ROUTES, described))
    return FEATURE_ROUTES[described as FeatureRoute].http === 'GET' ? READING : POSTING;
  return described === 'events' ? READING : ORIGIN;
}

/** The codes of a route by HTTP status. */
export function codesByStatus(described: Described): ReadonlyMap<number, readonly ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...baseOf(described), ...(ROUTES[described].errors ?? [])]) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}
