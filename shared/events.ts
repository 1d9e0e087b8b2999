import type { ApprovalPolicy, Vote } from './approvals.js';
import type { ControlMove, HandOff } from './control.js';
import type { SessionState } from './fold.js';
import type { GrantEnd, GrantRole, HiddenPart } from './grants.js';
import type { InboxChange } from './inbox.js';
import type { Message, StopReason, Usage } from './messages.js';
import type { PresenceChange } from './presence.js';
import type { ReactionLogged } from './reactions.js';
import type { FiredInstant, Schedule } from './schedules.js';

/** Why continuity with a cursor could not be proved. */
export type GapReason = 'epoch' | 'truncated' | 'evicted' | 'ahead' | 'malformed';

/** What a send does when the session is running another message. */
export type OnBusy = 'queue' | 'steer' | 'interrupt' | 'reject';

/** What a session is doing; `waiting` is for a person. */
export type SessionStatus = 'idle' | 'running' | 'waiting';

/** Where a subscription starts and what the session is doing. `epoch` is null before the session's first message. */
export interface SubscriptionInfo {
  readonly epoch: string | null;
  readonly first: number;
  readonly head: number;
  readonly resume: 'new' | 'exact' | 'gap';
  /** Sequence number of the first event that will be sent. */
  readonly next: number;
  /** The place just before `next`; absent before there is a log. */
  readonly cursor?: string;
  readonly status: SessionStatus;
  readonly runId?: string;
  readonly queued: number;
}

/** What of a session is to change: `null` takes it away, what is left out stays. */
export interface SessionChanges {
  readonly title?: string | null | undefined;
  /** In place of all that it has. */
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  readonly archived?: boolean | undefined;
}

/** Fields of the events that a session logs, by type. */
export interface LoggedEventData {
  message_accepted: {
    readonly message: Message;
    /** Messages of the same send that come before `message`. */
    readonly preceding?: readonly Message[];
    readonly key?: string;
    readonly onBusy: OnBusy;
    /** Number of runs before this one, the active one included; 0 starts at once. */
    readonly position: number;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
  message_start: { readonly messageId: string; readonly app: string };
  content_delta: { readonly delta: string; readonly index: number };
  reasoning_delta: { readonly delta: string; readonly index: number };
  tool_use: {
    readonly callId: string;
    readonly name: string;
    readonly input: unknown;
    /** Whether the model's provider makes the call, as with web search: nobody else answers it. */
    readonly providerExecuted?: boolean;
    /** Where it is answered, if not by the app: by the user's client, as a tool that the sender brought along is. */
    readonly runsOn?: 'client';
  };
  tool_confirmation_required: {
    readonly callId: string;
    readonly name: string;
    readonly input: unknown;
    readonly message?: string;
    /** Equal for questions that a run has put together, and are stored together; absent where no run asks. */
    readonly batch?: string;
    /** Absent where anybody's one answer decides. */
    readonly policy?: ApprovalPolicy;
  };
  /** One vote of a question with a policy. The one that decides comes together with the result. */
  tool_confirmation_vote: { readonly callId: string; readonly name: string } & Vote;
  /** From here on these roles may vote too. */
  tool_confirmation_escalated: { readonly callId: string; readonly roles: readonly string[] };
  tool_confirmation_result: {
    readonly callId: string;
    readonly name: string;
    readonly approved: boolean;
    readonly reason?: string;
    readonly input?: unknown;
    /** Id of the user who answered, or whose vote decided; `gateway` where nobody did. */
    readonly by: string;
    /** Those of a question with a policy, in the order of the log. */
    readonly votes?: readonly Vote[];
    /** Nobody has decided it in time. */
    readonly expired?: true;
  };
  input_required: {
    readonly callId: string;
    readonly name: string;
    readonly payload?: unknown;
    readonly schema?: unknown;
    /** As in `tool_confirmation_required`. */
    readonly batch?: string;
  };
  input_result: {
    readonly callId: string;
    readonly name: string;
    readonly output: unknown;
    readonly by: string;
  };
  tool_progress: {
    readonly callId: string;
    readonly value: number;
    readonly total?: number;
    readonly message?: string;
  };
  tool_result: {
    readonly callId: string;
    readonly name: string;
    readonly output: unknown;
    readonly isError: boolean;
  };
  data: { readonly id: string; readonly name: string; readonly value: unknown };
  steer: { readonly messageId: string; readonly consumed: boolean };
  run_error: { readonly code: string; readonly message: string };
  message_end: {
    readonly stopReason: StopReason;
    /** The run that consumed this message, with `steered`. */
    readonly intoRunId?: string;
    readonly usage?: Usage;
    /** The whole answer. */
    readonly message: Message;
  };
  /** The path ends at another message from here on. What ran or waited behind it has ended just before. */
  history_moved: {
    /** Id of the message that the next one follows; null at the beginning. */
    readonly tip: string | null;
    /** How many messages the path to it has. */
    readonly messageCount: number;
    /** Id of the user who moved it, where there is one. */
    readonly by?: string;
    /** The end of the path, where a reader may not have it: those behind a message that was shown before, or as many as a snapshot has. */
    readonly messages?: readonly Message[];
    /** Ids of the messages that follow `tip` already, the oldest first. */
    readonly replies?: readonly string[];
  };
  /** What is kept with the session was changed: each field that was, `null` where it was taken away. */
  session_updated: SessionChanges & {
    /** Id of the user who changed it, where it was a user. */
    readonly by?: string;
  };
  /** A person took over, or the app has control again. What ran or waited has ended just before, and nothing of it comes behind. */
  control_moved: ControlMove;
  /** The app asks for a person; its run ends with it. */
  hand_off_requested: HandOff;
  /** A schedule was set, or another one took the place of one of its name. */
  schedule_set: Schedule;
  /** A schedule was taken back. */
  schedule_unset: { readonly id: string; readonly by: string };
  /** An instant of a schedule: `runId` is the run that it began. */
  schedule_fired: FiredInstant;
  /** The session was shared. Only those are told who may share it themselves. */
  grant_added: {
    readonly grantId: string;
    readonly as: GrantRole;
    readonly with: 'user' | 'link';
    /** Id of the user whom it was shared with. */
    readonly userId?: string;
    readonly hide?: readonly HiddenPart[];
    readonly by: string;
    readonly expiresAt?: number;
  };
  /** A grant ended. */
  grant_removed: { readonly grantId: string; readonly by: string; readonly reason: GrantEnd };
  /** What a person thinks of a message. */
  reaction: ReactionLogged;
  channel: { readonly channel: string; readonly event: { readonly type: string; readonly payload: unknown } };
  custom: { readonly name: string; readonly payload: unknown };
  session_closed: { readonly reason: string };
}

/** Fields of the events that a connection carries and no log holds. */
export interface TransientEventData {
  connected: {
    readonly protocol: number;
    readonly gatewayId: string;
    readonly connectionId: string;
    readonly clientId: string;
    readonly heartbeatMs: number;
    readonly authExpiresAt?: number;
    /** Milliseconds the token is still good for, whatever the receiver's clock says. */
    readonly authExpiresInMs?: number;
    /** The app whose sessions are known by their bare names. */
    readonly defaultApp: string;
    readonly sessions: Readonly<Record<string, SubscriptionInfo>>;
  };
  /** In-band answer to `subscribe`: what follows for this session starts at `next`. */
  subscribed: SubscriptionInfo;
  heartbeat: { readonly cursor?: string };
  gap: {
    readonly reason: GapReason;
    readonly requested: string | null;
    readonly epoch: string | null;
    readonly first: number;
    readonly head: number;
  };
  snapshot: { readonly state: SessionState };
  /** What has changed in the inbox that is followed, each session as a whole. Its cursor is a place in the order of changes. */
  inbox: InboxChange;
  /** In the place of events that the grant does not show: so many, up to its cursor. At most one between two others. */
  hidden: { readonly count: number };
  /** Who is in a session that this connection follows and has asked about, or what has changed of that. */
  presence: PresenceChange;
  /** The credentials of this connection ran out; the stream ends after it. */
  auth_expired: { readonly message: string };
}

/** The types of events that a session logs. */
export type LoggedEventType = keyof LoggedEventData;
/** The types of events that a connection carries and no log holds. */
export type TransientEventType = keyof TransientEventData;
/** Every type of event. */
export type EventType = LoggedEventType | TransientEventType;

type Flatten<T> = { [K in keyof T]: T[K] };

/** Fields every event of a log carries on the wire. */
export interface Envelope {
  readonly sessionId: string;
  /** Opaque position: everything up to this event has been seen. */
  readonly cursor: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly runId?: string;
}

/** An event of a session's log, as clients receive it. */
export type LoggedEvent = {
  [T in LoggedEventType]: Flatten<{ readonly type: T } & Envelope & LoggedEventData[T]>;
}[LoggedEventType];

/** An event of one connection. `snapshot` and `gap` carry the cursor they lead to. */
export type TransientEvent = {
  [T in TransientEventType]: Flatten<
    {
      readonly type: T;
      readonly sessionId?: string;
      readonly cursor?: string;
      readonly ts?: number;
    } & TransientEventData[T]
  >;
}[TransientEventType];

/** Everything a client can receive. The event types of the protocol are closed; unknown ones are passed on untouched. */
export type GatewayEvent = LoggedEvent | TransientEvent;

/** One type of event. */
export type EventOf<T extends EventType> = Extract<GatewayEvent, { type: T }>;

/** An event before a log has given it a place. */
export type EventDraft = {
  [T in LoggedEventType]: Flatten<
    { readonly type: T; readonly runId?: string | undefined; readonly ts: number } & LoggedEventData[T]
  >;
}[LoggedEventType];

const LOGGED: Record<LoggedEventType, true> = {
  message_accepted: true,
  message_start: true,
  content_delta: true,
  reasoning_delta: true,
  tool_use: true,
  tool_confirmation_required: true,
  tool_confirmation_vote: true,
  tool_confirmation_escalated: true,
  tool_confirmation_result: true,
  input_required: true,
  input_result: true,
  tool_progress: true,
  tool_result: true,
  data: true,
  steer: true,
  run_error: true,
  message_end: true,
  history_moved: true,
  session_updated: true,
  control_moved: true,
  hand_off_requested: true,
  schedule_set: true,
  schedule_unset: true,
  schedule_fired: true,
  grant_added: true,
  grant_removed: true,
  reaction: true,
  channel: true,
  custom: true,
  session_closed: true,
};

/** Whether events of this type are kept in a session's log and so have a cursor of their own. */
export function isLoggedType(type: string): type is LoggedEventType {
  return Object.hasOwn(LOGGED, type);
}

/** Whether an event is a piece of an answer's text or reasoning. */
export function isDelta<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: 'content_delta' | 'reasoning_delta' }> {
  return event.type === 'content_delta' || event.type === 'reasoning_delta';
}

/** Whether an event ends its run. */
export function isTerminal(event: { readonly type: string }): boolean {
  return event.type === 'message_end';
}
