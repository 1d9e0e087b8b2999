import './runtime/node-version.js';

export type { ApprovalPolicy, ConfirmPolicy, OnExpiry, Vote } from '../shared/approvals.js';
export { usageCsv } from '../shared/budgets/csv.js';
export type { ClientTransport } from '../shared/client-transport.js';
export type { BaseUser, Register, UserContext } from '../shared/contract.js';
export {
  type ErrorBody,
  type ErrorCode,
  GatewayError,
  type GatewayErrorInit,
  GuardError,
  type GuardType,
  isGatewayError,
  isGuardError,
} from '../shared/errors.js';
export type {
  EventOf,
  EventType,
  GapReason,
  GatewayEvent,
  OnBusy,
  SessionChanges,
  SessionStatus,
  SubscriptionInfo,
} from '../shared/events.js';
export type { SessionState } from '../shared/fold.js';
export type {
  Grant,
  GrantedTo,
  GrantRole,
  HiddenPart,
  Shared,
  SharedBy,
  ShareParams,
} from '../shared/grants.js';
export type {
  Compaction,
  ContentBlock,
  Message,
  MessageInput,
  Outcome,
  SendInput,
  StopReason,
  Usage,
} from '../shared/messages.js';
export type {
  Method,
  MethodContext,
  MethodLeaf,
  MethodsConfig,
  MethodTree,
  ParentSpan,
  PublishOptions,
} from '../shared/method.js';
export type {
  Accepted,
  AppSummary,
  From,
  GivenOutput,
  HistoryPage,
  MethodSummary,
  PayloadSummary,
  RunResult,
  SessionSummary,
  Suggestion,
  ToolSummary,
} from '../shared/operation-types.js';
export type { OperationName } from '../shared/operations.js';
export type {
  FiredInstant,
  MissedPolicy,
  Schedule,
  ScheduleParams,
  ScheduleTimes,
  ScheduleTrigger,
  SkipReason,
} from '../shared/schedules/contract.js';
export type { SessionKey } from '../shared/session-key.js';
export { formatSessionKey, parseSessionKey } from '../shared/session-key.js';
export { type Tracked, tracked } from '../shared/tracked.js';
export { PROTOCOL_VERSION } from '../shared/version.js';
export {
  type GatewayRouter,
  gatewayMiddleware,
  type HostRequest,
  type MiddlewareOptions,
} from './adapters/express.js';
export type { AnswerMark } from './apps/answer-mark.js';
export type {
  AppEvent,
  Application,
  AppOutput,
  AppResult,
  Choices,
  ClientTool,
  Confirmation,
  ConfirmationRequest,
  ContentSchemas,
  OnDisconnect,
  Question,
  ResumedAnswer,
  ToolSession,
  Turn,
  TurnSession,
} from './apps/application.js';
export type { Child, ChildResult, ChildTrigger, SpawnOptions } from './apps/child.js';
export type {
  Compact,
  CompactionOption,
  CompactOptions,
  HistorySize,
  MadeSummary,
  SummaryRequest,
} from './apps/compaction.js';
export type { Confirm } from './apps/confirm-policy.js';
export type { ContentTypes } from './apps/content-types.js';
export { type App, defineApp } from './apps/define-app.js';
export type {
  Guard,
  GuardCheck,
  GuardContext,
  GuardedPart,
  GuardVerdict,
  GuardWindow,
} from './apps/guard.js';
export type {
  HostChannel,
  HostEventsOptions,
  HostFollowedRun,
  HostRun,
  HostSendOptions,
  SessionHandle,
  SessionOptions,
} from './apps/session-handle.js';
export type { BegunStep, StepContext } from './apps/step-context.js';
export {
  type Tool,
  type ToolContext,
  type ToolHints,
  type ToolOutput,
  type ToolSet,
  tool,
  toolResult,
} from './apps/tool.js';
export type { OnMismatch, Versioned } from './apps/versions.js';
export type { TrustProxy } from './auth/client-address.js';
export type { DisconnectTarget } from './auth/presence.js';
export type { SessionScope } from './auth/scope.js';
export type {
  AuthConfig,
  AuthRequest,
  AuthResult,
  HydrateUser,
  Person,
  UserLike,
} from './auth/types.js';
export type {
  Allowance,
  AppAccess,
  ClientMessages,
  FairKey,
  Oversight,
  SessionAccess,
  ShareLinks,
} from './config/access.js';
export type { GatewayConfig, LimitsInput, Logger, PayloadSchemas } from './config/config.js';
export { DEFAULT_LIMITS, type Limits } from './config/limits.js';
export type { MonitorOptions } from './config/monitor-options.js';
export type { Origins } from './config/origins.js';
export type { DeskQuestion } from './desk/questions.js';
export type { DeskConnection, DeskGateway, DeskKept, DeskRun, DeskSession, DeskUsage } from './desk/rows.js';
export type { AuditEntry } from './diagnostics/audit-entry.js';
export type { DueCount, GatewayStats, RunCounts } from './diagnostics/gateway-stats.js';
export type { ReadyState, UnreadyReason } from './diagnostics/ready-state.js';
export type { DeadWork } from './due/dead.js';
export type * from './features/budgets/types.js';
export type * from './features/notices/types.js';
export {
  type FoundSessions,
  type SearchedGateway,
  type SearchSessionsInput,
  searchSessions,
} from './features/search/index.js';
export type { StoredFile } from './files/stored-file.js';
export { createGateway } from './gateway/create-gateway.js';
export type { StartedGateway } from './gateway/doors.js';
export { Gateway } from './gateway/gateway.js';
export { createInProcessTransport } from './gateway/in-process.js';
export { type ReloadedConfig, reloadGateway } from './gateway/reload.js';
export type {
  EraseOptions,
  ExportOptions,
  HeldOptions,
  HeldSessionInfo,
  ImportOptions,
  ImportSource,
  WholeScope,
} from './host/data-options.js';
export type { Deploys, HeldRunInfo, RunVerdict, UnfinishedRun } from './host/deploys.js';
export type { ExecuteOptions, SessionsOptions, WhoseSessions } from './host/execute-options.js';
export type { LifecycleEvent, LifecycleEvents } from './lifecycle/lifecycle.js';
export { getContext } from './methods/context.js';
export { type MethodDefinition, method } from './methods/method.js';
export type { PlainOperation } from './operations/operations.js';
export type {
  CallToolOptions,
  Dialect,
  DialectOptions,
  DialectStream,
  Encoded,
  GatewayPlugin,
  PluginContext,
  PluginSession,
  SentRun,
  ToolDescription,
} from './plugins/plugin.js';
export { ToolCallError } from './runs/tool-error.js';
export type { JsonSchema } from './schema/schema.js';
export type { Erased } from './sessions/eraser.js';
export { type DirectoryFilesOptions, directoryFiles } from './stores/files/directory-file-store.js';
export type { FileStore } from './stores/files/file-store.js';
export { type MemoryFilesOptions, memoryFiles } from './stores/files/memory-file-store.js';
export { memoryStore } from './stores/memory.js';
export type { Store } from './stores/store.js';
export type { FetchOptions } from './transports/fetch/serve-fetch.js';
export type { PluginRequest, RouteOptions } from './transports/http/plugin-route.js';
export type { HandleOptions, OperationOptions, ServedOperation } from './transports/request.js';
export type {
  PluginSocket,
  PluginSocketListener,
  PluginUpgrade,
  SocketOptions,
  SocketStream,
} from './transports/websocket/plugin-upgrade.js';
