/** The activity of somebody in a session. */
export type PresenceState = 'here' | 'typing';

/** Somebody who has a session open. Each connection that announced itself counts as one. */
export interface PresenceMember {
  /** Names this member among all members of the session. */
  readonly id: string;
  /** Id of the user. */
  readonly userId: string;
  readonly state: PresenceState;
  /** The page's data about its user. */
  readonly data?: unknown;
}

/** A change of the people in a session. */
export interface PresenceChange {
  /** The members who came or changed; all members with `whole`. */
  readonly members: readonly PresenceMember[];
  /** Ids of the members who left. */
  readonly gone?: readonly string[];
  /** `members` is the whole list. */
  readonly whole?: true;
}
