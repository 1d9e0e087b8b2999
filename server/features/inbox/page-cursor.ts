import type { InboxPage } from '../../../shared/inbox/contract.js';
import { formatListPlace, parseListPlace } from '../../../shared/list-place.js';
import type { ListPlace } from '../../stores/listing.js';

/** The sums and the place of a whole inbox. The first page finds them, and each cursor brings them to the page after it. */
export type PageTotals = Pick<InboxPage, 'unread' | 'waiting' | 'place'>;

const CURSOR = /^(\d{1,16}\.\d{1,16})\.(\d{1,9})\.(\d{1,9})\.(\d{1,15}\.[0-9a-z]{1,7})$/;

/** The cursor of the page that begins behind a place in the list; null behind the last page. */
export const formatPageCursor = (
  behind: ListPlace | null,
  { unread, waiting, place }: PageTotals,
): string | null => behind && `${formatListPlace(behind)}.${unread}.${waiting}.${place}`;

/** Reads the cursor of a page. @throws GatewayError `INVALID_PARAMS` */
export function parsePageCursor(cursor: string): {
  readonly before: ListPlace | undefined;
  readonly totals: PageTotals;
} {
  const [, before = '', unread, waiting, place = ''] = CURSOR.exec(cursor) ?? [];
  return {
    before: parseListPlace(before, 'cursor'),
    totals: { unread: Number(unread), waiting: Number(waiting), place },
  };
}
