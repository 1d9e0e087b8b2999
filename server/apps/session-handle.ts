import type { PayloadAt, PayloadName } from '../../shared/contract.js';
import type { EventOf, GatewayEvent, SessionChanges } from '../../shared/events.js';
import type { Message, MessageInput, SendInput } from '../../shared/messages.js';
import type { PublishOptions } from '../../shared/method.js';
import type { CustomNotice } from '../../shared/notices.js';
import type {
  Accepted,
  From,
  HistoryPage,
  HistoryPlace,
  ImportParams,
  RegenerateParams,
  ResultOf,
  RunInfo,
  RunResult,
  SendParams,
  SessionStatusResult,
} from '../../shared/operation-types.js';
import type { Schedule, ScheduleParams } from '../../shared/schedules.js';
import type { Wire } from '../../shared/wire.js';
import type { UserLike } from '../auth/types.js';

/** Whose session host code means, where the key alone does not say it. */
export interface SessionOptions {
  /** The session in this user's scope. */
  readonly user?: UserLike;
  /** The session of the user `anonymous`. */
  readonly anonymous?: true;
}

/** Options of a send from host code. */
export type HostSendOptions = Omit<SendParams, 'sessionId' | 'message' | 'messages'> & {
  /** Put before the message as if they had been sent and answered: a conversation that was held elsewhere. */
  readonly preceding?: readonly MessageInput[];
  /**
   * Id of the message that it has to come behind: the last one that waits, else the answer that is being given, else the last one that is
   * shown; null for none. Refused with `HISTORY_MOVED` where that is another one by then. @default whatever it is
   */
  readonly behind?: string | null | undefined;
};

/** Options of answering a message again from host code. */
export type HostRegenerateOptions = Omit<RegenerateParams, 'sessionId'>;

/** A run of a session, whoever began it. Iterating yields its events from its beginning. It runs whether or not it is looked at. */
export interface HostFollowedRun extends AsyncIterable<GatewayEvent> {
  /** Resolves for every way a run can end, wherever it ran. Rejects when its message was refused, or where it is not known. */
  readonly result: Promise<RunResult>;
  /** Its events up to its end. @param from A cursor: those after the event that carried it. @default its beginning */
  events(from?: string): AsyncIterable<GatewayEvent>;
  /** What it is doing. */
  status(): Promise<RunInfo>;
  abort(reason?: string): Promise<boolean>;
}

/** A run that host code started. */
export interface HostRun extends HostFollowedRun {
  /** Rejects when the message is refused. */
  readonly accepted: Promise<Accepted>;
}

/** Options of reading a session's events. */
export interface HostEventsOptions {
  /** Where to start, also at a cursor: after the event that carried it. @default 'now' */
  readonly from?: From | (string & {});
  readonly signal?: AbortSignal;
}

/** What was published on a channel, or that messages are missing: what was published between is not kept any more. */
export type HostChannelMessage<Payload> =
  | { readonly type: string; readonly payload: Wire<Payload>; readonly gap?: undefined }
  | { readonly type: 'gap'; readonly gap: EventOf<'gap'>; readonly payload?: undefined };

/** A channel of a session, for host code. Iterating yields what JSON makes of what was published. */
export interface HostChannel<Payload = unknown> extends AsyncIterable<HostChannelMessage<Payload>> {
  publish(payload: Payload, options?: PublishOptions): Promise<void>;
}

/** A session as host code sees it: the same operations as on every transport, in one user's scope. */
export interface SessionHandle<Channels = any> {
  /** Canonical key. */
  readonly id: string;
  send(input: SendInput, options?: HostSendOptions): HostRun;
  /** Answers a message again: the last one, itself or that of an answer (`messageId`). The new answer is a version beside the old one. */
  regenerate(options?: HostRegenerateOptions): HostRun;
  /**
   * Has the conversation end at another of its messages, also one that is not shown any more, or go on from a `version` as it did last;
   * `null` for its beginning.
   */
  move(to: string | null | { readonly version: string }): Promise<HistoryPlace>;
  /** Begins a session of the same app with the messages up to one of these. @param options `at` names the last of them. @default the last one */
  fork(to: string, options?: { readonly at?: string }): Promise<ResultOf<'fork'>>;
  /** A run that somebody else may have begun, also before a restart. It is known for 24 hours after its end at least. */
  run(runId: string): HostFollowedRun;
  /** The session's events until the loop is left or the signal aborts. */
  events(options?: HostEventsOptions): AsyncIterable<GatewayEvent>;
  /** A page of messages, oldest first; empty for a session that has not begun. */
  history(options?: { readonly limit?: number; readonly before?: string }): Promise<HistoryPage>;
  status(): Promise<SessionStatusResult>;
  abort(options?: { readonly runId?: string; readonly reason?: string }): Promise<boolean>;
  /** Answers a confirmation, a question or a client tool's call. */
  respond(
    callId: string,
    answer: {
      readonly approved?: boolean;
      readonly reason?: string;
      readonly input?: unknown;
      readonly output?: unknown;
    },
  ): Promise<void>;
  /** Changes the session's title, metadata, or whether it is archived: `null` takes a field away, what is left out stays. */
  update(changes: SessionChanges): Promise<void>;
  /** Sets a schedule: its message is sent `at` a time, or again and again, as `every` says. One of the same `id` takes its place. */
  schedule(schedule: Omit<ScheduleParams, 'sessionId'>): Promise<Schedule>;
  /** Takes a schedule back, if there is one of that name. */
  unschedule(id: string): Promise<void>;
  /** In the order in which they fire next. */
  schedules(): Promise<readonly Schedule[]>;
  /**
   * Tells its user of something of the host's own, as `notify` of the gateway tells of runs that end.
   *
   * @returns the notice's id: the key of `deliver`, the id of webhooks
   */
  notify(notice: CustomNotice): Promise<{ readonly id: string }>;
  close(): Promise<void>;
  /** Ends the conversation and drops all that is kept of the session. Its followers are told `session_closed`, with the reason `deleted`. */
  delete(): Promise<void>;
  /** The messages that the conversation shows, or the events that are kept of it, the oldest first, read as they are asked for. */
  export(what?: 'messages'): AsyncIterable<Message>;
  export(what: 'events'): AsyncIterable<GatewayEvent>;
  export(what: 'schedules'): AsyncIterable<Schedule>;
  /** Begins the session with messages of elsewhere, as they were written there. */
  import(
    messages: readonly unknown[],
    options?: Omit<ImportParams, 'sessionId' | 'messages'>,
  ): Promise<HistoryPlace>;
  channel<Name extends PayloadName<Channels>>(name: Name): HostChannel<PayloadAt<Channels, Name>>;
}
