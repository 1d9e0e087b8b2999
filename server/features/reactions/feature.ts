import type { Feature } from '../../operations/feature.js';
import { reactionOperations } from './operations.js';
import { type ReactRequest, react } from './reacting.js';

declare module '../../sessions/session-work.js' {
  interface SessionWork {
    /** Logs a person's reaction to a message. */
    react: { readonly input: ReactRequest; readonly output: void };
  }
}

/** People's reactions to messages. The fold of a session puts them into its messages. */
export const reactionsFeature: Feature = {
  operations: reactionOperations,
  work: { react: { does: react } },
};
