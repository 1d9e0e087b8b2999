import { createHash } from 'node:crypto';
import type { Grant } from '../../shared/grants.js';
import type { RecordChange, StoredRecord } from '../stores/records.js';

/** The kind of records that grants are: found by their sessions, and by those who have them. */
export const GRANT = 'grant';
/** The same once more, found by its id: an address says nothing else. */
export const GRANT_ADDRESS = 'grant-address';

/** A grant as its record has it. */
export interface KeptGrant {
  /** Of the conversation that is shared: it ends with that. */
  readonly epoch: string;
  readonly grant: Omit<Grant, 'sessionId'>;
  /** Key of the user who has it; absent for a link. */
  readonly userKey?: string;
  /** SHA-256 of the link's token; absent for a user. */
  readonly hash?: string;
}

/** By what the grants of a user are found. */
export const ownerOfUser = (userKey: string): string => `user:${userKey}`;
/** By what the grant of a link is found. */
export const ownerOfLink = (hash: string): string => `link:${hash}`;

/** What is kept of a link's token. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

export const keptGrant = ({ value }: Pick<StoredRecord, 'value'>): KeptGrant =>
  JSON.parse(value) as KeptGrant;

/** Keeps a new grant. */
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

/** Drops a grant. */
export const droppingGrant = (id: string, token?: number): readonly RecordChange[] => [
  { kind: GRANT, id, token },
  { kind: GRANT_ADDRESS, id },
];
