import type { LanguageModelUsage, TextStreamPart, ToolSet } from 'ai';
import { isGatewayError } from '../../../shared/errors.js';
import type { Message, Usage } from '../../../shared/messages.js';
import type { AppEvent, AppResult } from '../../apps/application.js';
import { fittingId, newCallId } from '../../ids.js';
import { ToolCallError } from '../../runs/tool-error.js';
import { upstreamFailed } from '../upstream-failed.js';
import type { BegunAnswer } from './durable-model.js';
import { FormerCalls } from './former-calls.js';

type StreamPart = TextStreamPart<ToolSet>;

/** A call of the model that has no result yet. */
export interface OpenCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

interface StreamedCall extends OpenCall {
  readonly providerExecuted: boolean;
  logged: boolean;
}

/** A call that waits for the person's approval. */
export interface Approval {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly call: OpenCall;
}

/** The turn, as far as the reader needs it. */
export interface StreamReaderOptions {
  /** Whether calls of this tool go through `turn.callTool`, which logs them. */
  isOurs(name: string): boolean;
  /** Whether `turn.callTool` has begun for a call. */
  isLogged(toolCallId: string): boolean;
  usage(counts: Usage): Promise<void>;
  /** The answer so far, if a former process began it. */
  readonly resumed?: Message | null;
  /** The next answer of the model, if answers are steps. */
  nextAnswer?(): BegunAnswer | undefined;
}

/** Turns the parts of AI SDK streams into the items of an app. One reader serves a run with all its streams. */
export class StreamReader {
  readonly #options: StreamReaderOptions;
  /** Calls by the model's ids, which some models reuse. Clients get the gateway's ids. */
  readonly #calls = new Map<string, StreamedCall>();
  #approvals: Approval[] = [];
  readonly #denials = new Map<string, string>();
  #stopReason: NonNullable<AppResult['stopReason']> = 'end';
  readonly #former: FormerCalls;
  #answer: BegunAnswer | undefined;
  #files = 0;

  constructor(options: StreamReaderOptions) {
    this.#options = options;
    this.#former = new FormerCalls(options.resumed ?? null);
  }

  get stopReason(): NonNullable<AppResult['stopReason']> {
    return this.#stopReason;
  }

  get awaitsApproval(): boolean {
    return this.#approvals.length > 0;
  }

  /** The open call of a part, by the model's id. */
  callOf(part: StreamPart): OpenCall | undefined {
    return 'toolCallId' in part ? this.#calls.get(part.toolCallId) : undefined;
  }

  /** The approvals that the last stream asked for. */
  takeApprovals(): readonly Approval[] {
    const approvals = this.#approvals;
    this.#approvals = [];
    return approvals;
  }

  /** Sets the reason that the result of a denied call states. */
  deny(toolCallId: string, reason: string | undefined): void {
    this.#denials.set(toolCallId, reason ? `Denied: ${reason}` : 'Denied');
  }

  /** @throws GatewayError `UPSTREAM_FAILED` for a part that reports a failed stream */
  *read(part: StreamPart): Iterable<string | AppEvent> {
    switch (part.type) {
      case 'start-step':
        this.#answer = this.#options.nextAnswer?.();
        this.#answer?.read(0);
        return;
      case 'text-delta': {
        if (part.text !== '') yield part.text;
        this.#answer?.read(part.text.length);
        return;
      }
      case 'reasoning-delta': {
        if (part.text !== '') yield { type: 'reasoning_delta', delta: part.text };
        this.#answer?.read(part.text.length);
        return;
      }
      case 'tool-call':
        yield* this.#opened(part);
        return;
      case 'tool-approval-request': {
        const { approvalId, toolCall } = part;
        const call = this.#calls.get(toolCall.toolCallId);
        if (call) this.#approvals.push({ approvalId, toolCallId: toolCall.toolCallId, call });
        return;
      }
      case 'tool-result':
        if (!part.preliminary) yield* this.#ended(part.toolCallId, part.output ?? null, false);
        return;
      case 'tool-error':
        yield* this.#ended(part.toolCallId, toolFailure(part.error), true);
        return;
      case 'tool-output-denied':
        yield* this.#ended(part.toolCallId, this.#denials.get(part.toolCallId) ?? 'Denied', true);
        this.#denials.delete(part.toolCallId);
        return;
      case 'source': {
        const { type: _type, id, providerMetadata: _provider, ...value } = part;
        yield { type: 'data', id: fittingId(id), name: 'source', value };
        return;
      }
      case 'file': {
        const { mediaType, base64: data } = part.file;
        // The same the second time.
        this.#files += 1;
        yield { type: 'data', id: `file-${this.#files}`, name: 'file', value: { mediaType, data } };
        return;
      }
      case 'finish-step':
        void this.#options.usage({ model: part.response?.modelId, ...toUsage(part.usage) });
        this.#answer?.end();
        this.#answer = undefined;
        return;
      case 'finish':
        if (part.finishReason === 'error') throw upstreamFailed('The model ended with an error');
        this.#stopReason = STOP_REASONS[part.finishReason] ?? 'end';
        return;
      case 'abort':
        throw upstreamFailed(part.reason ?? 'The stream was aborted');
      case 'error':
        throw upstreamFailed(part.error);
    }
  }

  /** Ends an answer that has failed. */
  broken(): void {
    this.#answer?.end();
    this.#answer = undefined;
  }

  /** Logs the calls that were not made. The caller receives them with stop reason `tool_use`. */
  *unmade(): Iterable<AppEvent> {
    for (const call of this.#calls.values()) yield* this.#log(call);
  }

  *#opened(part: Extract<StreamPart, { type: 'tool-call' }>): Iterable<AppEvent> {
    const { toolCallId, toolName: name, input, providerExecuted = false } = part;
    const ours = !providerExecuted && this.#options.isOurs(name);
    const known = ours ? undefined : this.#former.take(name, input);
    const logged = known !== undefined;
    const call: StreamedCall = { callId: known ?? newCallId(), name, input, providerExecuted, logged };
    this.#calls.set(toolCallId, call);
    if (!ours) yield* this.#log(call);
  }

  *#ended(toolCallId: string, output: unknown, isError: boolean): Iterable<AppEvent> {
    const call = this.#calls.get(toolCallId);
    this.#calls.delete(toolCallId);
    if (!call || this.#options.isLogged(toolCallId)) return;
    yield* this.#log(call);
    yield { type: 'tool_result', callId: call.callId, name: call.name, output, isError };
  }

  *#log(call: StreamedCall): Iterable<AppEvent> {
    if (call.logged) return;
    call.logged = true;
    const { callId, name, input, providerExecuted } = call;
    yield {
      type: 'tool_use',
      callId,
      name,
      input: input ?? null,
      ...(providerExecuted && { providerExecuted }),
    };
  }
}

const STOP_REASONS: Readonly<Record<string, NonNullable<AppResult['stopReason']>>> = {
  length: 'max_tokens',
  'tool-calls': 'tool_use',
};

/** Clients may read the SDK's own words (about an input that does not fit) and the gateway's, but not those of an unknown error. */
function toolFailure(error: unknown): string {
  if (typeof error === 'string') return error;
  return error instanceof ToolCallError || isGatewayError(error) ? error.message : 'The tool failed';
}

function toUsage({
  inputTokens,
  outputTokens,
  totalTokens,
  inputTokenDetails,
  outputTokenDetails,
}: LanguageModelUsage): Usage {
  const counts = {
    inputTokens,
    outputTokens,
    totalTokens,
    cachedInputTokens: inputTokenDetails?.cacheReadTokens,
    reasoningTokens: outputTokenDetails?.reasoningTokens,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}
