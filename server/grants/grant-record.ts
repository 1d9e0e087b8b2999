import { createHash } from 'node:crypto';
import type { Grant } from '../../shared/grants.js';
import { READ } from '../read-places/read-place.js';
import type { RecordChange, StoredRecord } from '../stores/records.js';

/** Kind of the records of grants, found by their session or by their owner. */
export const GRANT = 'grant';
/** Kind of the second record of a grant, found by its id. An address names nothing else. */
export const GRANT_ADDRESS = 'grant-address';

/** A grant in its record. */
export interface KeptGrant {
  /** Epoch of the conversation that is shared. The grant ends with it. */
  readonly epoch: string;
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

export const keptGrant = ({ value }: Pick<StoredRecord, 'value'>): KeptGrant =>
  JSON.parse(value) as KeptGrant;

/** The records of a new grant. */
export function keepingGrant(kept: KeptGrant): readonly RecordChange[] {
  const { grant, userKey, hash } = kept;
  const { grantId: id, expiresAt: dueAt } = grant;
  const owner = userKey === undefined ? ownerOfLink(hash!) : ownerOfUser(userKey);
  const value = JSON.stringify(kept);
  return [
    { kind: GRANT, id, owner, value, token: 0, ...(dueAt !== undefined && { dueAt }) },
    { kind: GRANT_ADDRESS, id, owner: id, value, token: 0 },
  ];
}

/** The key of all who bear the link of a grant. It has three parts, so that it differs from the scope of every user and tenant. */
export const guestKey = (grantId: string): string => JSON.stringify(['guest', grantId, '']);

/** The changes that drop a grant, with the read place of those who bear its link. */
export const droppingGrant = (id: string, token?: number): readonly RecordChange[] => [
  { kind: GRANT, id, token },
  { kind: GRANT_ADDRESS, id },
  { kind: READ, id: guestKey(id) },
];
