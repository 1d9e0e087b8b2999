export type { AuditEntry } from './audit-entry.js';
export {
  type Channels,
  channels,
  type MessageChannel,
  type TraceChannel,
  type TraceHandlers,
} from './channels.js';
export type {
  AppendMessage,
  ConnectionEndMessage,
  ConnectionEndReason,
  GuardMessage,
  ModelAnswer,
  ModelMessage,
  ModelSettings,
  OperationMessage,
  RunMessage,
  StepMessage,
  ToolMessage,
  TraceOrigin,
  TraceOutcome,
} from './messages.js';
