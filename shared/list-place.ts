import { fieldError } from './errors.js';

/** A place in the list of a scope's sessions, as stores have it. */
interface PlaceInList {
  readonly updatedAt: number;
  readonly ordinal: number;
}

/** A place in a list of sessions as clients carry it; null behind the last page. */
export const formatListPlace = (place: PlaceInList | null): string | null =>
  place && `${place.updatedAt}.${place.ordinal}`;

/** The same, read. @throws GatewayError `INVALID_PARAMS` naming the field */
export function parseListPlace(cursor: string | undefined, field: string): PlaceInList | undefined {
  if (cursor === undefined) return undefined;
  const [, ...numbers] = /^(\d{1,16})\.(\d{1,16})$/.exec(cursor) ?? [];
  const [updatedAt, ordinal] = numbers.map(Number);
  // The ordinal of a store may be microseconds, which have 16 digits.
  if (!Number.isSafeInteger(updatedAt) || !Number.isSafeInteger(ordinal))
    throw fieldError(field, 'must be a cursor of this list');
  return { updatedAt: updatedAt!, ordinal: ordinal! };
}
