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
  ModelAnswer,
  ModelMessage,
  ModelSettings,
  OperationMessage,
  RunMessage,
  ToolMessage,
  TraceOrigin,
  TraceOutcome,
} from './messages.js';
