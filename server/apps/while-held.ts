/** The name under which a turn has the hold of its session. */
export const WHILE_HELD: unique symbol = Symbol('while held');

/**
 * A signal that aborts once this process no longer holds the session of a turn: the session was closed or goes on elsewhere, or the gateway closes. All turns of
 * one hold have the same. A rehearsal has none.
 */
export const holdOf = (turn: object): AbortSignal | undefined =>
  (turn as { readonly [WHILE_HELD]?: AbortSignal })[WHILE_HELD];
