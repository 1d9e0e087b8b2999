import type { Deploys } from '../../host/deploys.js';
import type { Feature } from '../../operations/feature.js';
import { deploysOf } from './deploys.js';
import { HeldRuns } from './held-runs.js';
import { takesUp } from './taking-up.js';

declare module '../../operations/feature.js' {
  interface FeatureParts {
    /** Runs over deploys, for operators. */
    readonly deploys?: Deploys;
  }
}

/** Runs that outlive the code that began them. */
export const deploysFeature: Feature = {
  takesUp,
  causes: {
    run_held({ runId = '', by = '' }) {
      return { kind: 'run_held', of: [runId, by], runId };
    },
  },
  open({ config, store, apps, sessions, ready, report }) {
    const held = new HeldRuns({ sessions, store, apps, report });
    return {
      deploys: deploysOf({ config, apps, ready }),
      join: (errands) => held.join(errands),
      look: () => held.look(),
      stats: () => ({ heldRuns: held.counts }),
    };
  },
};
