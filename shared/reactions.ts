/** A person's reaction to a message. */
export interface Reaction {
  /** Id of the user. */
  readonly by: string;
  /** `up`, `down`, or a short text such as an emoji. */
  readonly value: string;
  readonly comment?: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** A reaction that is given or taken back. */
export interface ReactionGiven {
  readonly messageId: string;
  readonly by: string;
  /** Replaces the same person's earlier reaction; null takes it back. */
  readonly value: string | null;
  readonly comment?: string;
}

/** A reaction that is given or taken back, as logged. */
export interface ReactionLogged extends ReactionGiven {
  /** All reactions of the message from here on. */
  readonly reactions: readonly Reaction[];
}
