/** What somebody in a session is doing. */
export type PresenceState = 'here' | 'typing';

/** Somebody who has a session open: one of each connection that said so. */
export interface PresenceMember {
  /** Names this one among all of the session. */
  readonly id: string;
  /** Id of the user. */
  readonly userId: string;
  readonly state: PresenceState;
  /** What their page says of them. */
  readonly data?: unknown;
}

/** What is told of who is there. */
export interface PresenceChange {
  /** Those who came or do something else; all who are there, with `whole`. */
  readonly members: readonly PresenceMember[];
  /** Ids of those who left. */
  readonly gone?: readonly string[];
  /** Nobody else is there. */
  readonly whole?: true;
}
