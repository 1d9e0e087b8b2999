/** What somebody may do with a session that is shared, from the least to the most. Its owner may do all. */
export const GRANT_ROLES = ['viewer', 'commenter', 'member', 'operator'] as const;

/** The role of a grant: `viewer` reads, `commenter` also publishes on channels, `member` also sends and answers, `operator` also shares. */
export type GrantRole = (typeof GRANT_ROLES)[number];

/** What can be left out of what a grant shows. */
export const HIDDEN_PARTS = ['reasoning', 'toolInput', 'toolOutput', 'data', 'usage', 'metadata'] as const;

/** A part of a session that a grant does not show. */
export type HiddenPart = (typeof HIDDEN_PARTS)[number];

/** What marks the name of a session that is reached by a grant: no session's own name begins with it. */
export const GRANT_MARK = '~';

/** The name under which a grant reaches its session. */
export const grantName = (grantId: string): string => `${GRANT_MARK}${grantId}`;

/** The grant that a session's name stands for; null where it is a name of the caller's own. */
export const grantIn = (name: string): string | null => (name.startsWith(GRANT_MARK) ? name.slice(1) : null);

/** Who gets a grant: a user of the caller's tenant, or whoever has the link. */
export type GrantedTo = { readonly userId: string } | { readonly link: true };

/** A grant: somebody else reaches a session by it. */
export interface Grant {
  readonly grantId: string;
  /** The address of the session for whoever has the grant. It says nothing of the session's key. */
  readonly sessionId: string;
  readonly as: GrantRole;
  readonly with: GrantedTo;
  /** What it does not show; absent where it shows all. */
  readonly hide?: readonly HiddenPart[];
  /** Id of the user who gave it. */
  readonly by: string;
  /** When it was given, in milliseconds since the epoch. */
  readonly at: number;
  /** When it ends, in milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** What `share` takes. */
export interface ShareParams {
  readonly sessionId: string;
  readonly with: GrantedTo;
  readonly as: GrantRole;
  /** How long it is good, in milliseconds. @default until it is taken back, or the conversation ends */
  readonly expiresInMs?: number | undefined;
  readonly hide?: readonly HiddenPart[] | undefined;
}

/** What `share` answers: of a link also its token, this once. Whoever shows that is a guest of the session, and of no other. */
export interface Shared {
  readonly grant: Grant;
  /** Of a link. */
  readonly token?: string | undefined;
  /** Of a link, where the host has pages for them. */
  readonly url?: string | undefined;
}

/** Why a grant ended. */
export type GrantEnd = 'revoked' | 'expired';

/** By which grant a shared session of a list is reached. */
export interface SharedBy {
  readonly grantId: string;
  readonly as: GrantRole;
  readonly by: string;
}

/** Whether a role is at least another one. */
export const isAtLeast = (role: GrantRole, least: GrantRole): boolean =>
  GRANT_ROLES.indexOf(role) >= GRANT_ROLES.indexOf(least);
