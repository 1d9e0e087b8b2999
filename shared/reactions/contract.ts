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

/** The operations on reactions. */
export interface ReactionOperations {
  react: {
    params: Omit<ReactionGiven, 'by' | 'comment'> & {
      readonly sessionId: string;
      readonly comment?: string | undefined;
    };
    result: { readonly ok: true };
  };
}

/** Its operations, which only an entry of their own calls (`shared/calls.ts`). */
export const REACTION_NAMED = ['react'] as const;

/** The events of reactions. */
export interface ReactionEvents {
  /** A person's reaction to a message. It takes the place of the same person's earlier one. */
  reaction: ReactionGiven;
}

/** The limits of reactions. */
export interface ReactionLimits {
  /** People who may react to one message. @default 200 */
  readonly reactionsPerMessage: number;
}

/** A message's reactions with one that is given or taken back. One that is there already may come again, with all that came behind it. */
export function withReaction(
  before: readonly Reaction[],
  { by, value, comment, ts: at }: ReactionGiven & { readonly ts: number },
): readonly Reaction[] {
  const others = before.filter((other) => other.by !== by);
  return value === null ? others : [...others, { by, value, ...(comment !== undefined && { comment }), at }];
}
