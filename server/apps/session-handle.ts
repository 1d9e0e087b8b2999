import type { PayloadAt, PayloadName } from '../../shared/contract.js';
import type { EventOf, GatewayEvent, SessionChanges } from '../../shared/events.js';
import type { FeatureHandle } from '../../shared/features.js';
import type { Grant, Shared, ShareParams } from '../../shared/grants.js';
import type { MessageInput, SendInput } from '../../shared/messages.js';
import type { PublishOptions } from '../../shared/method.js';
import type {
  Accepted,
  ExportedItems,
  ExportedKind,
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
import type { Wire } from '../../shared/wire.js';
import type { UserLike } from '../auth/types.js';

/** The owner of a session, for host code that names it by key. */
export interface SessionOptions {
  /** The session is in this user's scope. */
  readonly user?: UserLike;
  /** The session belongs to the user `anonymous`. */
  readonly anonymous?: true;
}

/** Options of a send from host code. */
export type HostSendOptions = Omit<SendParams, 'sessionId' | 'onlyAs' | 'message' | 'messages'> & {
  /** Messages to put before this one as if they had been sent and answered, such as a conversation held elsewhere. */
  readonly preceding?: readonly MessageInput[];
  /**
   * Id of the message that this one must follow: the last queued one, else the answer in progress, else the last one shown; null for none.
   * Refused with `HISTORY_MOVED` if another message is the last by then.
   *
   * @default any
   */
  readonly behind?: string | null | undefined;
};

/** Options for answering a message again from host code. */
export type HostRegenerateOptions = Omit<RegenerateParams, 'sessionId' | 'onlyAs'>;

/** A run of a session, whoever began it. Iterating yields its events from the beginning. The run does not depend on being watched. */
export interface HostFollowedRun extends AsyncIterable<GatewayEvent> {
  /** Resolves however and wherever the run ends. Rejects if its message was refused, or the outcome is unknown. */
  readonly result: Promise<RunResult>;
  /** The events of the run up to its end. @param from A cursor; yields the events after the one that carried it. @default its beginning */
  events(from?: string): AsyncIterable<GatewayEvent>;
  /** The present state of the run. */
  status(): Promise<RunInfo>;
  abort(reason?: string): Promise<boolean>;
}

/** A run that host code started. */
export interface HostRun extends HostFollowedRun {
  /** Rejects if the message is refused. */
  readonly accepted: Promise<Accepted>;
}

/** Options for reading a session's events. */
export interface HostEventsOptions {
  /** The place to start at; a cursor means after the event that carried it. @default 'now' */
  readonly from?: From | (string & {});
  readonly signal?: AbortSignal;
}

/** A message published on a channel, or a notice that messages are missing because they are no longer kept. */
export type HostChannelMessage<Payload> =
  | { readonly type: string; readonly payload: Wire<Payload>; readonly gap?: undefined }
  | { readonly type: 'gap'; readonly gap: EventOf<'gap'>; readonly payload?: undefined };

/** A channel of a session, for host code. Iterating yields JSON copies of the published messages. */
export interface HostChannel<Payload = unknown> extends AsyncIterable<HostChannelMessage<Payload>> {
  publish(payload: Payload, options?: PublishOptions): Promise<void>;
}

/** A session for host code, in one user's scope, with the same operations as on every transport. */
export interface SessionHandle<Channels = any> extends FeatureHandle {
  /** Canonical key. */
  readonly id: string;
  send(input: SendInput, options?: HostSendOptions): HostRun;
  /**
   * Answers a message again: the one that `messageId` names, the one that a named answer belongs to, or the last. The new answer is a
   * version beside the old one.
   */
  regenerate(options?: HostRegenerateOptions): HostRun;
  /** Moves the end of the conversation to another message, shown or not; to the latest end behind a `version`; or to the beginning with `null`. */
  move(to: string | null | { readonly version: string }): Promise<HistoryPlace>;
  /**
   * Begins a session of the same app with the messages up to one of these.
   *
   * @param options `at` names the last message.
   * @default the last one
   */
  fork(to: string, options?: { readonly at?: string }): Promise<ResultOf<'fork'>>;
  /** Adds messages that begin no run, behind the last one: `SESSION_BUSY` while one is active. Those with an `id` come once. */
  append(messages: readonly SendInput[]): Promise<ResultOf<'append'>>;
  /** A run that anybody may have begun, also before a restart. It is known for at least 24 hours after its end. */
  run(runId: string): HostFollowedRun;
  /** The session's events, until you leave the loop or the signal aborts. */
  events(options?: HostEventsOptions): AsyncIterable<GatewayEvent>;
  /** A page of messages, oldest first. Empty for a session that has not begun. */
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
  /** Changes the session's title, metadata or archived mark. `null` removes a field; omitted fields stay. */
  update(changes: SessionChanges): Promise<void>;
  /** Gives access to the session to a user of the same tenant, or to anybody who has the link. */
  share(grant: Omit<ShareParams, 'sessionId'>): Promise<Shared>;
  /** Ends a grant, if there is one, and everything that is open by it. */
  unshare(grantId: string): Promise<void>;
  /** The grants, the oldest first. */
  grants(): Promise<readonly Grant[]>;
  close(): Promise<void>;
  /** Ends the conversation and drops everything that is kept of the session. Its followers receive `session_closed` with the reason `deleted`. */
  delete(): Promise<void>;
  /** The messages on the current path, the retained events, or others, the oldest first. Items are read as you ask for them. @default 'messages' */
  export<Kind extends ExportedKind = 'messages'>(what?: Kind): AsyncIterable<ExportedItems[Kind]>;
  /** Begins the session with messages from another system, unchanged. */
  import(
    messages: readonly unknown[],
    options?: Omit<ImportParams, 'sessionId' | 'messages'>,
  ): Promise<HistoryPlace>;
  channel<Name extends PayloadName<Channels>>(name: Name): HostChannel<PayloadAt<Channels, Name>>;
}
