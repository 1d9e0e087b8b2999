import { fieldError } from '../shared/errors.js';
import type { ListPlace } from './stores/listing.js';

/** A place in a list of sessions as clients carry it; null behind the last page. */
export const formatListPlace = (place: ListPlace | null): string | null =>
  place && `${place.updatedAt}.${place.ordinal}`;

/** The same, read. @throws GatewayError `INVALID_PARAMS` naming the field */
export function parseListPlace(cursor: string | undefined, field: string): ListPlace | undefined {
  if (cursor === undefined) return undefined;
  if (!/^\d{1,15}\.\d{1,15}$/.test(cursor)) throw fieldError(field, 'must be a cursor of this list');
  const [updatedAt = 0, ordinal = 0] = cursor.split('.').map(Number);
  return { updatedAt, ordinal };
}
