import type { Feature } from '../../operations/feature.js';
import { presenceOperations } from './operations.js';
import { PresenceBoard } from './presence-board.js';

/** The people in a session. Nothing of it is stored. */
export const presenceFeature: Feature = {
  open({ config: { limits }, report }) {
    const board = new PresenceBoard({ heartbeatMs: limits.heartbeatMs, report });
    return {
      join: (errands) => board.join(errands),
      operations: (env, parts) => presenceOperations(board, env, parts),
      drain: () => board.close(),
    };
  },
};
