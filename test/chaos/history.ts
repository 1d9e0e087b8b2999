import type { LoggedEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';

/** A call of an app, as the app noted it. */
export interface AppCall {
  readonly node: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly text: string;
  readonly resumed: boolean;
}

/** What a sender was told that its message was accepted as, each time. */
export interface Acknowledged {
  readonly runId: string;
}

/** How a sender was told that its run ended. */
export interface ToldEnd {
  readonly runId: string;
  readonly stopReason: string;
  readonly text: string;
}

/** One message of one client: sent under one key until it was answered. */
export interface Sent {
  readonly client: string;
  /** Of this client: the next is sent once this one was accepted. */
  readonly number: number;
  readonly sessionId: string;
  readonly key: string;
  readonly text: string;
  readonly onBusy: 'queue' | 'interrupt';
  readonly acknowledged: Acknowledged[];
  readonly ends: ToldEnd[];
  /** A refusal that is final. */
  refused?: string;
}

/** What somebody was told who ended a run. */
export interface Aborted {
  readonly sessionId: string;
  readonly runId: string;
  /** Whether anything was ended, as the answer had it. */
  readonly aborted: boolean;
  /** The order of asking is not known where it was asked more than once. */
  readonly attempts: number;
}

/** What a person was told who answered a question. */
export interface Answered {
  readonly sessionId: string;
  readonly callId: string;
  readonly person: string;
  /** What was said: `output` of a question, `reason` of a confirmation that was denied, `yes` of one that was allowed. */
  readonly said: string;
  readonly counted: boolean;
}

/** What a reader of a session was shown, in order. */
export type Shown =
  | { readonly kind: 'event'; readonly event: LoggedEvent }
  | { readonly kind: 'gap'; readonly reason: string }
  | { readonly kind: 'snapshot'; readonly cursor: string | null; readonly state: SessionState }
  /** A new connection, which a raw reader resumed on after this cursor; `''`: from the beginning. */
  | { readonly kind: 'connected'; readonly after: string };

/** A reader of a session from its beginning. */
export interface Reading {
  readonly reader: string;
  readonly sessionId: string;
  /** An SDK reader is shown each event once; a raw one resumes by its last id. */
  readonly by: 'sdk' | 'raw';
  readonly shown: Shown[];
  /** What ended it before the test did. */
  failed?: string;
}

/** A session as one gateway shows it, once all is quiet. */
export interface View {
  readonly node: string;
  readonly sessionId: string;
  readonly events: readonly LoggedEvent[];
  readonly state: SessionState;
  readonly messages: readonly Message[];
}

/** What the faults of a test may have cost. */
export interface Costs {
  /** Runs of apps that are not resumable may have been lost. */
  readonly lostRuns: boolean;
  /** What the store had acknowledged may have been lost, so that readers were told of gaps. */
  readonly forgotten: boolean;
}

/** All that was seen in a test, to be judged. */
export interface History {
  readonly sent: readonly Sent[];
  readonly aborted: readonly Aborted[];
  readonly answered: readonly Answered[];
  readonly readings: readonly Reading[];
  readonly calls: readonly AppCall[];
  readonly views: readonly View[];
  readonly costs: Costs;
}
