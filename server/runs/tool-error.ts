import { knownInEveryCopy } from '../../shared/in-every-copy.js';

/** A tool call that did not produce a result; thrown by `turn.callTool`. The message is safe to show to a model. */
export class ToolCallError extends Error {
  readonly callId: string;
  readonly toolName: string;
  /** Whether a person denied the call, as opposed to a failure. */
  readonly denied: boolean;

  constructor(
    call: { readonly callId: string; readonly toolName: string; readonly denied?: boolean },
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ToolCallError';
    this.callId = call.callId;
    this.toolName = call.toolName;
    this.denied = call.denied ?? false;
  }
}

knownInEveryCopy(ToolCallError, 'tool-call-error');
