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

/** A message's reactions with one that is given or taken back. One that is there already may come again, with all that came behind it. */
export function withReaction(
  before: readonly Reaction[],
  { by, value, comment, ts: at }: ReactionGiven & { readonly ts: number },
): readonly Reaction[] {
  const others = before.filter((other) => other.by !== by);
  return value === null ? others : [...others, { by, value, ...(comment !== undefined && { comment }), at }];
}
