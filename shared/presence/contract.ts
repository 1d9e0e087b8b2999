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

/** The operations on presence. */
export interface PresenceOperations {
  presence: {
    params: {
      readonly sessionId: string;
      /** Id of a connection that follows the session, from the `connected` event. It receives changes, and its end ends this presence. */
      readonly connectionId: string;
      /** `gone` also ends the caller's presence events. @default the caller receives them without being present */
      readonly state?: PresenceState | 'gone' | undefined;
      /** The page's data about its user; JSON. */
      readonly data?: unknown;
    };
    /** `id` names the caller among the members. */
    result: { readonly id: string; readonly members: readonly PresenceMember[] };
  };
}

/** Its operations, which only an entry of their own calls (`shared/calls.ts`). */
export const PRESENCE_NAMED = ['presence'] as const;

/** The events of presence, which no log holds. */
export interface PresenceTransients {
  /** The people in a session that this connection asked about, or changes of them. */
  presence: PresenceChange;
}

/** The limits of presence. */
export interface PresenceLimits {
  /** People who may be present in one session. @default 100 */
  readonly presenceMembers: number;
  /** Size of a page's data about a present person, in bytes of JSON. @default 1 KiB */
  readonly presenceBytes: number;
}
