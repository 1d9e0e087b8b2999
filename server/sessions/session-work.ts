import type { Control } from '../../shared/control.js';
import type { EventDraft, SessionChanges } from '../../shared/events.js';
import type { Grant } from '../../shared/grants.js';
import type { Message } from '../../shared/messages.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import type { AcceptedRun, AskedPlace } from '../held/acceptance.js';
import type { AddedMessages, AppendedMessages } from '../held/appending.js';
import type { DueEnd } from '../held/child-ends.js';
import type { DueControl, HandBackRequest, TakeOverRequest } from '../held/control.js';
import type { EndedGrant, NewGrant } from '../held/granting.js';
import type { Goal } from '../held/moves.js';
import type { DueQuestion } from '../held/session-approvals.js';
import type { Woken } from '../held/waking.js';
import type { Ballot } from '../runs/approvals.js';
import type { RunRequest } from '../runs/live-run.js';
import type { Answer } from '../runs/questions.js';
import type { NewSession } from '../stores/store.js';
import type { FirstContent } from './first-content.js';
import type { LoneQuestion, Withdrawn } from './session-calls.js';

/** The work that a session can be asked to do, with its result. All plain values, because the holder of the session may be another process. */
export interface SessionWork {
  /** Accepts a message and answers it. Begins a session that does not exist. */
  accept: {
    readonly input: { readonly request: RunRequest } & AskedPlace;
    readonly output: AcceptedRun;
  };
  /** Adds messages that begin no run. Begins a session that does not exist. */
  append: { readonly input: AddedMessages; readonly output: AppendedMessages };
  /** Begins a session with messages from another system, and the title and metadata given with them. */
  begin: {
    readonly input: {
      readonly userId: string | undefined;
      readonly parts: FirstContent & Pick<NewSession, 'forkedFrom'>;
    };
    readonly output: HistoryPlace;
  };
  /** Answers a message again: the named one, the one of a named answer, or the last one. */
  regenerate: {
    readonly input: {
      readonly request: Omit<RunRequest, 'message' | 'preceding' | 'onBusy'>;
      readonly messageId: string | undefined;
      readonly by: string;
    };
    readonly output: AcceptedRun & { readonly message: Message };
  };
  /** Moves the end of the conversation to another message. */
  move: {
    readonly input: { readonly goal: Goal; readonly by: string };
    readonly output: HistoryPlace;
  };
  /** Ends a run, or the active one. False if there is none to end. */
  abort: {
    readonly input: { readonly runId?: string | undefined; readonly reason?: string | undefined };
    readonly output: boolean;
  };
  /** Sends a message to a run beside the conversation. */
  steer: { readonly input: { readonly runId: string; readonly message: Message }; readonly output: void };
  /** Answers a confirmation, a question or a client tool's call. */
  respond: { readonly input: { readonly callId: string; readonly answer: Answer }; readonly output: void };
  /** Logs a vote for a tool call that belongs to no run. Null if more votes are needed. */
  vote: { readonly input: Ballot; readonly output: Answer | null };
  /** Decides a question whose time is over, or escalates it to more people. */
  expire: { readonly input: DueQuestion; readonly output: void };
  /** Tells that the last viewer at another gateway left. */
  deserted: { readonly input: Readonly<Record<never, never>>; readonly output: void };
  /** Asks the question of a tool call that belongs to no run. Results in its holder; null if nobody would see the question. */
  ask: { readonly input: LoneQuestion; readonly output: string | null };
  /** Returns whether such a call still has an open question, and whether anybody sees it. */
  asks: {
    readonly input: { readonly callId: string };
    readonly output: { readonly watched: boolean } | null;
  };
  /** Logs the answer to such a question. */
  record: { readonly input: { readonly callId: string; readonly event: EventDraft }; readonly output: void };
  /** Takes back the question of such a call. */
  withdraw: { readonly input: Withdrawn; readonly output: void };
  /** Changes the title, metadata or archived mark of the session. */
  update: {
    readonly input: { readonly changes: SessionChanges; readonly by: string };
    readonly output: void;
  };
  /** Grants another person access to the session. */
  share: { readonly input: NewGrant; readonly output: Omit<Grant, 'sessionId'> };
  /** Ends a grant. Returns whether there was one. */
  unshare: { readonly input: EndedGrant; readonly output: boolean };
  /** Gives a person control. */
  'take-over': { readonly input: TakeOverRequest; readonly output: Control };
  /** Gives control back to the app. */
  'hand-back': { readonly input: HandBackRequest; readonly output: { readonly runId?: string } };
  /** Returns control to the app when a person's time is over. */
  'release-control': { readonly input: DueControl; readonly output: void };
  /** Resumes a run that was parked. */
  wake: { readonly input: Woken; readonly output: void };
  /** Begins the run of the session's app that the end of a child asks for. */
  'child-end': { readonly input: DueEnd; readonly output: void };
  /** Ends the conversation. */
  close: { readonly input: { readonly reason: string }; readonly output: void };
  /** Ends the conversation and drops everything that is kept of the session. `past`: also where there are only past conversations. */
  delete: { readonly input: { readonly past: boolean }; readonly output: void };
  /** Publishes on a channel. Begins a session that does not exist. */
  publish: {
    readonly input: {
      readonly channel: string;
      readonly event: string;
      readonly payload: unknown;
      /** Whether the caller waits until the message is stored, and can be refused. */
      readonly stored: boolean;
      readonly userId: string | undefined;
      /** Names the work if it may be asked for again: it is then stored, and done once. */
      readonly once?: string;
    };
    readonly output: void;
  };
  /** Emits a custom event. Begins a session that does not exist. */
  custom: {
    readonly input: {
      readonly name: string;
      readonly payload: unknown;
      readonly userId: string | undefined;
      /** Names the work if it may be asked for again: it is then stored, and done once. */
      readonly once?: string;
    };
    readonly output: void;
  };
}

/** One piece of work for a session, with the grant by which somebody asks for it; absent for an owner. */
export type SessionInput = {
  [Type in keyof SessionWork]: {
    readonly type: Type;
    readonly via?: string | undefined;
  } & SessionWork[Type]['input'];
}[keyof SessionWork];

/** The result of a piece of work. */
export type OutputOf<Input extends SessionInput> = SessionWork[Input['type']]['output'];
