import { fieldError } from '../../../shared/errors.js';

/** The place of a page. */
export interface SearchPlace {
  /** The time by which all pages judge how new a message is, in milliseconds since the epoch. */
  readonly asOf: number;
  /** The store's place at which the messages begin that are ranked together; null for the newest. */
  readonly before: number | null;
  /** Number of them that earlier pages have shown. */
  readonly shown: number;
}

const CURSOR = /^(\d{1,15})\.(\d{1,16})?\.(\d{1,4})$/;

export const formatSearchPlace = ({ asOf, before, shown }: SearchPlace): string =>
  `${asOf}.${before ?? ''}.${shown}`;

/** @throws GatewayError `INVALID_PARAMS` */
export function parseSearchPlace(cursor: string): SearchPlace {
  const [found, asOf, before, shown] = CURSOR.exec(cursor) ?? [];
  if (found === undefined) throw fieldError('cursor', 'must be the cursor of a search');
  return { asOf: Number(asOf), before: before === undefined ? null : Number(before), shown: Number(shown) };
}
