/** The roles of a grant, from the least to the most powerful. The session's owner may do all. */
export const GRANT_ROLES = ['viewer', 'commenter', 'member', 'operator'] as const;

/** The role of a grant: `viewer` reads, `commenter` also publishes on channels, `member` also sends and answers, `operator` also shares. */
export type GrantRole = (typeof GRANT_ROLES)[number];

/** The parts of a session that a grant can hide. */
export const HIDDEN_PARTS = ['reasoning', 'toolInput', 'toolOutput', 'data', 'usage', 'metadata'] as const;

/** A part of a session that a grant does not show. */
export type HiddenPart = (typeof HIDDEN_PARTS)[number];

/** The prefix of a name that reaches a session by a grant. No session's own name begins with it. */
export const GRANT_MARK = '~';

/** The name under which a grant reaches its session. */
export const grantName = (grantId: string): string => `${GRANT_MARK}${grantId}`;

/** The grant that a session's name stands for; null for a name of the caller's own. */
export const grantIn = (name: string): string | null => (name.startsWith(GRANT_MARK) ? name.slice(1) : null);

/** The receiver of a grant: a user of the caller's tenant, or anybody with the link. */
export type GrantedTo = { readonly userId: string } | { readonly link: true };

/** A grant lets somebody else reach a session. */
export interface Grant {
  readonly grantId: string;
  /** The session's address for holders of the grant. It does not tell the session's key. */
  readonly sessionId: string;
  readonly as: GrantRole;
  readonly with: GrantedTo;
  /** The parts that it hides; absent if it shows all. */
  readonly hide?: readonly HiddenPart[];
  /** Id of the user who gave it. */
  readonly by: string;
  /** When it was given, in milliseconds since the epoch. */
  readonly at: number;
  /** When it ends, in milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** Parameters of `share`. */
export interface ShareParams {
  readonly sessionId: string;
  readonly with: GrantedTo;
  readonly as: GrantRole;
  /** The grant's lifetime in milliseconds. @default until it is taken back, or the conversation ends */
  readonly expiresInMs?: number | undefined;
  readonly hide?: readonly HiddenPart[] | undefined;
}

/** Result of `share`. A link's token is told only here. Its bearer is a guest of this session, and of no other. */
export interface Shared {
  readonly grant: Grant;
  /** The link's token. */
  readonly token?: string | undefined;
  /** The link's address, if the host has pages for links. */
  readonly url?: string | undefined;
}

/** Why a grant ended. */
export type GrantEnd = 'revoked' | 'expired';

/** The grant by which a shared session of a list is reached. */
export interface SharedBy {
  readonly grantId: string;
  readonly as: GrantRole;
  readonly by: string;
}

/** Whether a role is at least another one. */
export const isAtLeast = (role: GrantRole, least: GrantRole): boolean =>
  GRANT_ROLES.indexOf(role) >= GRANT_ROLES.indexOf(least);
