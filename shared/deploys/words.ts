import type { CauseWords, FeatureWords } from '../words.js';
import type { DEPLOY_CAUSES, DeployEvents, DeployLimits, DeployStats } from './contract.js';

export const DEPLOYS: FeatureWords<Readonly<Record<never, never>>, DeployEvents, DeployLimits, DeployStats> &
  CauseWords<(typeof DEPLOY_CAUSES)[number]> = {
  operations: {},
  events: {
    run_held: { summary: 'The run waits for another version of its app' },
    run_taken_up: { summary: 'The run goes on with another version of its app' },
  },
  limits: {
    rehearsalMs: { kind: 'ms', default: 5000 },
    rehearsals: { kind: 'count', default: 8 },
  },
  metrics: {
    now: [
      [
        'runs_held',
        'Runs that wait for a version of their app, at all gateways of the store; each gateway that serves the app has all of them',
        ({ heldRuns }) => heldRuns.map(({ app, version, count }) => [{ app, version }, count]),
        ['app', 'version'],
      ],
    ],
  },
  causes: { run_held: 'An answer waits for an update of the assistant' },
};
