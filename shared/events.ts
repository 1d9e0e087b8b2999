import type { ApprovalPolicy, Vote } from './approvals.js';
import type { ControlMove, HandOff } from './control.js';
import type { FeatureEvents, FeatureTransients } from './feature-events.js';
import type { SessionState } from './fold.js';
import type { GrantEnd, GrantRole, HiddenPart } from './grants.js';
import type { ContentBlock, LanePlace, Message, Retraction, StopReason, Usage } from './messages.js';
import type { UserName } from './user-name.js';

/** Why continuity with a cursor could not be proved. */
export type GapReason = 'epoch' | 'truncated' | 'evicted' | 'ahead' | 'malformed';

/** The effect of a send on a session that is running another message. */
export type OnBusy = 'queue' | 'steer' | 'interrupt' | 'reject';

/** The activity of a session; `waiting` is for a person. */
export type SessionStatus = 'idle' | 'running' | 'waiting';

/** The start of a subscription and the session's activity. `epoch` is null before the session's first message. */
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

/** Changes to a session. `null` removes a field; an absent field stays. */
export interface SessionChanges {
  readonly title?: string | null | undefined;
  /** Replaces all of the session's metadata. */
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  readonly archived?: boolean | undefined;
}

/** The beginning of a run beside the conversation. */
export interface SpawnedRun extends Omit<LanePlace, 'asked' | 'steering'> {
  /** Id of its answer. */
  readonly messageId: string;
  readonly app: string;
  /** The version of the app, if it has one. */
  readonly version?: string;
  /** The message that it answers. */
  readonly message: Message;
  readonly key?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Fields of the events that a session logs, by type. */
export interface LoggedEventData extends FeatureEvents {
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
  message_start: {
    readonly messageId: string;
    readonly app: string;
    /** The version of the app, if it has one. */
    readonly version?: string;
  };
  content_delta: { readonly delta: string; readonly index: number };
  reasoning_delta: { readonly delta: string; readonly index: number };
  tool_use: {
    readonly callId: string;
    readonly name: string;
    readonly input: unknown;
    /** Whether the model's provider makes the call, as with web search: nobody else answers it. */
    readonly providerExecuted?: boolean;
    /** `client`: the user's client answers the call, as for a tool that the sender brought along. */
    readonly runsOn?: 'client';
  };
  tool_confirmation_required: {
    readonly callId: string;
    readonly name: string;
    readonly input: unknown;
    readonly message?: string;
    /** Equal for questions that a run asks together and that are stored together; absent if no run asks. */
    readonly batch?: string;
    /** Absent if anybody's one answer decides. */
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
    /** Id of the user who answered, or whose vote decided; `gateway` if nobody did. */
    readonly by: string;
    /** The votes of a question with a policy, in the order of the log. */
    readonly votes?: readonly Vote[];
    /** The question expired before anybody decided it. */
    readonly expired?: true;
  };
  input_required: {
    readonly callId: string;
    readonly name: string;
    readonly payload?: unknown;
    readonly schema?: unknown;
    /** The same as in `tool_confirmation_required`. */
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
  /** A run began beside the conversation: a child of another run, or a run that a person began in a lane of its own. */
  run_spawned: SpawnedRun;
  /** A message for a run beside the conversation, which takes it when its app asks (`steer` with `consumed`). */
  run_steered: { readonly message: Message };
  /** The run has used this, in addition to what it used before: a call of a model, or of a tool that costs. */
  usage_added: {
    /** Names it in its run. A run that goes on in another process does not count it again. */
    readonly id?: string;
    readonly usage: Usage;
  };
  run_error: { readonly code: string; readonly message: string };
  message_end: {
    readonly stopReason: StopReason;
    /** The run that consumed this message, with `steered`. */
    readonly intoRunId?: string;
    /** The lane of a run beside the conversation. */
    readonly lane?: number;
    /** The parent of a child run. */
    readonly parentRunId?: string;
    /** All that the run itself has used. */
    readonly usage?: Usage;
    /** The same with the runs under it; absent if it has none that used anything. */
    readonly totalUsage?: Usage;
    /** The whole answer. */
    readonly message: Message;
  };
  /** A message says something else from here on: its app took back a part of its answer, or somebody took back all of it. */
  message_replaced: {
    readonly messageId: string;
    /** All of its content from here on. */
    readonly content: readonly ContentBlock[];
    /** Set if it was taken back as a whole, and not by its own app. */
    readonly retracted?: Retraction;
  };
  /** The path now ends at another message. The active run and the queued ones ended just before. */
  history_moved: {
    /** Set if `messages` are new, and follow what was the last one. */
    readonly added?: true;
    /** Id of the message that the next one follows; null at the beginning. */
    readonly tip: string | null;
    /** How many messages the path to it has. */
    readonly messageCount: number;
    /** Id of the user who moved it, if there is one. */
    readonly by?: string;
    /** The end of the path, if a reader may lack it: the messages after one that was shown before, or as many as a snapshot has. */
    readonly messages?: readonly Message[];
    /** Ids of the messages that already follow `tip`, the oldest first. */
    readonly replies?: readonly string[];
  };
  /** Fields kept with the session changed. Each changed field is present, `null` if it was removed. */
  session_updated: SessionChanges & {
    /** Id of the user who changed it, if it was a user. */
    readonly by?: string;
  };
  /** A person took over, or the app has control again. The active run and the queued ones ended just before, and log nothing after it. */
  control_moved: ControlMove;
  /** The app asks for a person; its run ends with it. */
  hand_off_requested: HandOff;
  /** The session was shared. Only readers who may share it themselves receive this event. */
  grant_added: {
    readonly grantId: string;
    readonly as: GrantRole;
    readonly with: 'user' | 'link';
    /** Id of the user that it was shared with. */
    readonly userId?: string;
    readonly hide?: readonly HiddenPart[];
    readonly by: string;
    readonly expiresAt?: number;
  };
  /** A grant ended. */
  grant_removed: { readonly grantId: string; readonly by: string; readonly reason: GrantEnd };
  channel: { readonly channel: string; readonly event: { readonly type: string; readonly payload: unknown } };
  custom: { readonly name: string; readonly payload: unknown };
  session_closed: { readonly reason: string };
}

/** Fields of the events that a connection carries and no log holds. */
export interface TransientEventData extends FeatureTransients {
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
    /** The user whose connection this is. A client that meets another one forgets what it knew. */
    readonly user: UserName;
    readonly sessions: Readonly<Record<string, SubscriptionInfo>>;
  };
  /** In-band answer to `subscribe`. The session's events after it start at `next`. */
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
  /** Stands for `count` events up to its cursor that the grant does not show. There is at most one between two shown events. */
  hidden: { readonly count: number };
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
    { readonly type: T } & Partial<Omit<Envelope, 'runId'>> & TransientEventData[T]
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
