import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Grant } from '../../shared/grants.js';
import { grantSchema } from '../../shared/schemas/grants.js';
import { kind } from '../records/kind.js';
import type { RecordChange } from '../stores/records.js';

/** A grant in its record. It ends with the conversation that is shared. */
export interface KeptGrant {
  readonly grant: Omit<Grant, 'sessionId'>;
  /** Key of the user who has the grant; absent for a link. */
  readonly userKey?: string;
  /** SHA-256 of the link's token; absent for a user. */
  readonly hash?: string;
  /** Id of the person who gave the link by which this grant was given; absent where a user gave it. */
  readonly givenBy?: string;
}

/** The owner under which the grants of a user are found. */
export const ownerOfUser = (userKey: string): string => `user:${userKey}`;
/** The owner under which the grant of a link is found. */
export const ownerOfLink = (hash: string): string => `link:${hash}`;

/** The hash that is stored of a link's token. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

const schema: z.ZodType<KeptGrant> = z.object({
  grant: grantSchema.omit({ sessionId: true }),
  userKey: z.string().exactOptional(),
  hash: z.string().exactOptional(),
  givenBy: z.string().exactOptional(),
});

/** Grants, found by their session or by those who have them. */
export const GRANTS = kind<KeptGrant>({
  ...{ name: 'grant', schema, endsWith: 'conversation' },
  ownerOf: ({ userKey, hash }) => (userKey === undefined ? ownerOfLink(hash!) : ownerOfUser(userKey)),
  dueOf: ({ grant: { expiresAt } }) => expiresAt,
});

/** The second record of each grant, found by its id. An address names nothing else. */
export const GRANT_ADDRESSES = kind<KeptGrant>({
  ...{ name: 'grant-address', schema, endsWith: 'conversation' },
  ownerOf: ({ grant: { grantId } }) => grantId,
});

/** The records of a new grant of a conversation. */
export function keepingGrant(kept: KeptGrant, epoch: string): readonly RecordChange[] {
  const { grantId } = kept.grant;
  return [GRANTS, GRANT_ADDRESSES].map((kind) => kind.put(grantId, kept, { epoch, token: 0 }));
}

/** The key of all who bear the link of a grant. It has three parts, so that it differs from the scope of every user and tenant. */
export const guestKey = (grantId: string): string => JSON.stringify(['guest', grantId, '']);

/** The grant whose link all bear who have a key; undefined for the key of a user. */
export function linkOf(key: string): string | undefined {
  const [, grantId, ...more] = key.startsWith('["guest",') ? (JSON.parse(key) as readonly string[]) : [];
  return more.length > 0 ? grantId : undefined;
}

/** The key of the person who has a grant: a user, or all who bear its link. */
export const bearerOf = ({ userKey, grant }: KeptGrant): string => userKey ?? guestKey(grant.grantId);

/** The changes that drop a grant. */
export const droppingGrant = (id: string, token?: number): readonly RecordChange[] => [
  GRANTS.drop(id, token),
  GRANT_ADDRESSES.drop(id),
];
