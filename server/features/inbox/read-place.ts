import * as z from 'zod';
import { formatCursor } from '../../../shared/cursor.js';
import { linkOf } from '../../grants/grant-record.js';
import { kind } from '../../records/kind.js';
import type { Arrivals } from '../../stores/about.js';

/** The place up to which a user has read a conversation. */
export interface ReadPlace {
  readonly epoch: string;
  readonly seq: number;
  /** Time at which it was read, by the store's clock, in milliseconds since the epoch. */
  readonly at: number;
  /** The same place in the form for clients. */
  readonly cursor: string;
  /** `Arrivals.count` less the unread messages. Later the difference to the new count is the number of unread messages. */
  readonly counted: number;
  /** `counted` is valid while `Arrivals.rewound` is not beyond this place. */
  readonly from: number;
}

const schema: z.ZodType<ReadPlace> = z.object({
  ...{ epoch: z.string(), seq: z.number(), at: z.number() },
  ...{ cursor: z.string(), counted: z.number(), from: z.number() },
});

/** Read places. Each is in its session, and has its person's key as id and owner. One of a past conversation counts for none. */
export const READ_PLACES = kind<ReadPlace>({
  ...{ name: 'read', schema, endsWith: 'session', ofPerson: true },
  ownerOf: (_place, person) => person,
  grantOf: (_place, person) => linkOf(person),
});

/** A place up to which everything was read. */
export function wholeTo(
  { epoch, term, seq }: { readonly epoch: string; readonly term: number; readonly seq: number },
  { count, rewound }: Arrivals,
  at: number,
): ReadPlace {
  const cursor = formatCursor(epoch, term, seq);
  return { epoch, seq, at, cursor, counted: count, from: Math.max(seq, rewound) };
}
