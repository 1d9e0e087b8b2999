/** What a person thinks of a message. */
export interface Reaction {
  /** Id of the user. */
  readonly by: string;
  /** `up`, `down`, or a short text such as an emoji. */
  readonly value: string;
  readonly comment?: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** A reaction that is given, or taken back. */
export interface ReactionGiven {
  readonly messageId: string;
  readonly by: string;
  /** In the place of what the same person thought before; null takes it back. */
  readonly value: string | null;
  readonly comment?: string;
}

/** The same, as the log says it. */
export interface ReactionLogged extends ReactionGiven {
  /** All that the message has from here on. */
  readonly reactions: readonly Reaction[];
}
