import * as z from 'zod';
import { idOf, ownKey } from '../../ids.js';
import { kind } from '../../records/kind.js';
import { homeOf, type RecordHome, textOfHome } from '../../stores/records.js';
import { type Counted, countedShape } from './counts.js';

/** Time for which a use stays a record of its own, before it joins the sums of its account, in milliseconds. */
export const APART_MS = 5000;
/** Time for which the sums of a run stay after its end, in milliseconds. */
export const ENDED_MS = 10_000;
/** Time for which the sums of a period stay after its end, for uses that join them late, in milliseconds. */
export const PAST_MS = 24 * 3_600_000;

/** A place where uses are added up: a person, a session, or a budget in one of its periods. */
export interface Account {
  /** The owner of its records. */
  readonly owner: string;
  /** The home of its sums: it ends with whatever they are of. */
  readonly home: RecordHome;
  /** Whether it is the account of a person, by `Person.key`. */
  readonly person?: true;
  /** The end of its period, after which nobody asks for it; absent if it has none. */
  readonly until?: number;
}

/** A use in its record. Its event's place names it, so a repeated append does not count twice. */
export interface KeptUse extends Counted {
  readonly owner: string;
  /** The home of the sums, as text. */
  readonly at: string;
  readonly person?: boolean;
  readonly until?: number;
  readonly due: number;
}

/** Uses that are not in the sums of their account yet, in the append of their event. They are in the session. */
export const USES = kind<KeptUse>({
  ...{ name: 'use', endsWith: 'time', ofPerson: true },
  schema: z.object({
    ...countedShape,
    ...{ owner: z.string(), at: z.string(), person: z.boolean().exactOptional() },
    ...{ until: z.number().exactOptional(), due: z.number() },
  }),
  ownerOf: ({ owner }) => owner,
  dueOf: ({ due }) => due,
});

/** A part of the sums of an account. */
export interface KeptSum extends Counted {
  readonly owner: string;
  /** When it is forgotten. */
  readonly due?: number;
}

export const SUMS = kind<KeptSum>({
  ...{ name: 'usage-sum', endsWith: 'time', ofPerson: true },
  schema: z.object({ ...countedShape, owner: z.string(), due: z.number().exactOptional() }),
  ownerOf: ({ owner }) => owner,
  dueOf: ({ due }) => due,
});

/** The head of an account's sums. Its token tells whether they have changed. */
export interface KeptHead {
  readonly owner: string;
  /** The uses that the last change has added. They do not count, where their records are still there. */
  readonly added: readonly string[];
  /** When it is forgotten, with the last of its sums. */
  readonly due?: number;
}

export const HEADS = kind<KeptHead>({
  ...{ name: 'usage-head', endsWith: 'time', ofPerson: true },
  schema: z.object({ owner: z.string(), added: z.array(z.string()), due: z.number().exactOptional() }),
  ownerOf: ({ owner }) => owner,
  dueOf: ({ due }) => due,
});

/** The ends of accounts that are of a run, with all that is kept of them. */
export const ENDS = kind<{ readonly owner: string; readonly due: number }>({
  ...{ name: 'usage-end', endsWith: 'time' },
  schema: z.object({ owner: z.string(), due: z.number() }),
  dueOf: ({ due }) => due,
});

/** All accounts of persons, for the host. */
export const PERSONS = ownKey('usage', 'persons');

/** The note that a person has an account, by which the host finds it. */
export const ACCOUNTS = kind<{ readonly owner: string }>({
  ...{ name: 'usage-account', endsWith: 'time', schema: z.object({ owner: z.string() }) },
  ownerOf: () => PERSONS,
});

export const headId = (owner: string): string => idOf('head', owner);
export const sumId = (owner: string, { by }: Counted): string =>
  idOf(
    'sum',
    owner,
    ...Object.entries(by)
      .sort()
      .map(([name, value]) => JSON.stringify([name, value])),
  );

/** Names a use among all of its account. */
export const nameOfUse = (home: RecordHome, id: string): string => JSON.stringify([textOfHome(home), id]);

export const personAccount = (key: string): Account => ({ owner: key, home: { scope: key }, person: true });

export const sessionAccount = (home: RecordHome): Account => ({
  owner: ownKey('usage', 'session', textOfHome(home)),
  home,
});

export const accountOf = ({ owner, at, person, until }: KeptUse): Account => ({
  ...{ owner, home: homeOf(at) },
  ...(person && { person }),
  ...(until !== undefined && { until }),
});
