export type * from '../shared/approvals.js';
export type { ErrorCode } from '../shared/errors.js';
export type * from '../shared/events.js';
export { isTerminal } from '../shared/events.js';
export type * from '../shared/fold.js';
export { initialState, reduce } from '../shared/fold.js';
export type { StreamItem } from '../shared/frames.js';
export type { ErrorBody, GuardType } from '../shared/gateway-error.js';
export { GatewayError, GuardError, isGatewayError, isGuardError } from '../shared/gateway-error.js';
export type * from '../shared/messages.js';
export type {
  CallOptions,
  Method,
  MethodItems,
  MethodParams,
  MethodPaths,
  MethodResult,
  StreamOptions,
} from '../shared/method.js';
export type * from '../shared/operation-types.js';
export { type Client, type ClientOperations, createClient } from './client.js';
export type { ConnectionState, ConnectionStatus } from './connection.js';
export type { MethodCalls, TypedCalls, UntypedCalls } from './method-calls.js';
export type { ClientOptions, Persistence, SignalOptions } from './options.js';
export type { PendingRegeneration, SendingMessage } from './outbox.js';
export type { Start } from './reader.js';
export type { EditOptions, FollowedRun, Run, RunOptions, SendOptions } from './run.js';
export type {
  AbortOptions,
  Answer,
  Asked,
  Channel,
  ChannelGap,
  ChannelMessage,
  ClientSession,
  EventsOptions,
  ForkOptions,
  HistoryOptions,
  ImportOptions,
  MoveTarget,
  SessionOperations,
} from './session.js';
export type { HttpOptions, Supplied } from './transport/http-options.js';
export { sseTransport } from './transport/sse.js';
export type * from './transport/transport.js';
export {
  type WebSocketClass,
  type WebSocketLike,
  type WebSocketOptions,
  webSocketTransport,
} from './transport/websocket.js';
export type {
  ChannelInput,
  ChannelNames,
  ChannelPayload,
  ClientEvent,
  ClientHistory,
  ClientMessage,
  ClientPending,
  ClientState,
} from './typed-events.js';
export type { WatchChange, WatchState, WatchStatus } from './view.js';
export type { Watch } from './watch.js';
