import type { KeptHeld } from '../held/held-run.js';
import type { Mismatch } from '../runs/rehearsal.js';
import type { RehearsedRun } from '../runs/rehearse.js';

/** A run that waits for a version of its app. */
export interface HeldRunInfo extends KeptHeld {
  readonly runId: string;
  readonly sessionId: string;
  readonly scope: string;
}

/** A run that has not ended, as a rehearsal needs it. It has what people said, so treat it as their data. */
export interface UnfinishedRun extends RehearsedRun {
  readonly scope: string;
  /** The name of its session. */
  readonly name: string;
  /** Whether it waits for a version of its app. */
  readonly isHeld: boolean;
}

/** The fate of a run at a deploy: it goes on; it is held, because its version is not accepted or its rehearsal came elsewhere; or it is lost. */
export type RunVerdict =
  | { readonly outcome: 'goes on' }
  | { readonly outcome: 'held'; readonly reason: 'version' | 'mismatch'; readonly mismatch?: Mismatch }
  | { readonly outcome: 'lost'; readonly reason: 'not resumable' | 'no app' };

/** Runs over deploys, for operators: of any user, without an access check. */
export interface Deploys {
  /** The names of the gateway's apps with their versions; null for none. */
  readonly versions: Readonly<Record<string, string | null>>;
  /** The runs that wait for a version of their app. @param apps Names of apps. @default those of the gateway */
  held(apps?: Iterable<string>): AsyncGenerator<HeldRunInfo>;
  /**
   * The runs that have not ended, whoever holds their sessions, as `check` needs them: for the check of a deploy. Takes nothing, and changes nothing.
   *
   * @param apps Names of apps. @default those of the gateway
   */
  unfinished(apps?: readonly string[]): AsyncGenerator<UnfinishedRun>;
  /** The fate of an unfinished run, of any gateway, if the apps of this one were deployed. Opens no store. */
  check(run: UnfinishedRun): Promise<RunVerdict>;
}
