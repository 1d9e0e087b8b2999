/** A run that no gateway can go on with now: no version of its app that runs accepts the version that began it, or comes to where it was. */
export interface HeldRun {
  /** The version of the app that began the run, or went on with it last; absent for none. */
  readonly version?: string;
  /** The version that cannot go on with it. */
  readonly by?: string;
}

/** The events of runs over deploys. */
export interface DeployEvents {
  /** The run waits for a version of its app that can go on with it. It has not failed, and goes on by itself. */
  run_held: HeldRun;
  /** Another version of the app goes on with the run. */
  run_taken_up: { readonly version?: string };
}

/** The events that cause notices. */
export const DEPLOY_CAUSES = ['run_held'] as const;

/** A number of held runs. */
export interface HeldCount {
  readonly app: string;
  /** Empty for none. */
  readonly version: string;
  readonly count: number;
}

/** The numbers of runs over deploys in `gateway.stats()`. */
export interface DeployStats {
  /** Runs that wait for a version of their app, at whichever gateway of the store, of the apps that this one serves. */
  readonly heldRuns: readonly HeldCount[];
}

/** The limits of runs over deploys. */
export interface DeployLimits {
  /** The longest time for which the app of another version is called to see whether it can go on with a run, in milliseconds. @default 5 s */
  readonly rehearsalMs: number;
  /** Such calls at a time. @default 8 */
  readonly rehearsals: number;
}
