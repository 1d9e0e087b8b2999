export type * from './approvals.js';
export {
  CALLS,
  type CallName,
  EVENTS_PATH,
  type OperationRoute,
  WEBSOCKET_PATH,
} from './calls.js';
export type {
  BaseUser,
  Contract,
  PayloadAt,
  PayloadName,
  PayloadTypes,
  Register,
  UserContext,
} from './contract.js';
export type * from './control.js';
export { type Cursor, formatCursor, formatVector, parseCursor, parseVector } from './cursor.js';
export {
  ERROR_TABLE,
  type ErrorBody,
  type ErrorCode,
  GatewayError,
  type GatewayErrorInit,
  GuardError,
  type GuardType,
  isGatewayError,
  isGuardError,
} from './errors.js';
export { EventReader } from './event-reader.js';
export {
  type Envelope,
  type EventDraft,
  type EventOf,
  type EventType,
  type GapReason,
  type GatewayEvent,
  isTerminal,
  type LoggedEvent,
  type LoggedEventData,
  type LoggedEventType,
  type OnBusy,
  type SessionChanges,
  type SessionStatus,
  type SubscriptionInfo,
  type TransientEvent,
  type TransientEventData,
  type TransientEventType,
} from './events.js';
export type { UploadedFile } from './files/contract.js';
export {
  type ActiveRun,
  initialState,
  type PendingQuestion,
  type QueuedMessage,
  reduce,
  type SessionState,
  type ToolProgress,
} from './fold.js';
export type * from './frames.js';
export type * from './messages.js';
export { textOf } from './messages.js';
export type {
  CallOptions,
  ContextChannels,
  Method,
  MethodContext,
  MethodLeaf,
  MethodParams,
  MethodPaths,
  MethodResult,
  MethodTree,
  MethodTreeOf,
  ParentSpan,
  PublishOptions,
  UseInstead,
} from './method.js';
export { encodeLine, LineDecoder } from './ndjson.js';
export type * from './operation-types.js';
export {
  HEALTH_PATHS,
  isOperation,
  OPERATIONS,
  type OperationName,
} from './operations.js';
export type { PresenceChange, PresenceMember, PresenceState } from './presence/contract.js';
export { errorBodySchema } from './schemas/errors.js';
export { type EventData, eventDataSchemas, eventSchema, isLoggedType } from './schemas/events.js';
export { clientFrameSchema, serverFrameSchema } from './schemas/frames.js';
export { messageInputSchema, messageSchema } from './schemas/messages.js';
export { operationSchemas } from './schemas/operations.js';
export { sessionStateSchema } from './schemas/state.js';
export { formatSessionKey, isAppName, parseSessionKey, type SessionKey } from './session-key.js';
export { encodeSse, SseDecoder } from './sse.js';
export type * from './user-name.js';
export { negotiateProtocol, PROTOCOL_RANGE, PROTOCOL_VERSION, type ProtocolRange } from './version.js';
export type { Json, Wire } from './wire.js';
