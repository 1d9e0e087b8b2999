import type { Usage } from '../../../shared/messages.js';
import type { AppEvent, AppResult } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import { fromGraphContent } from './content.js';
import {
  type GraphMessage,
  type GraphMessageMetadata,
  type GraphToolCall,
  type GraphToolCallChunk,
  messagesIn,
  roleOf,
} from './graph.js';
import { outputOf } from './messages.js';

/** An interrupt of a graph. A breakpoint has no value. */
export interface GraphInterrupt {
  readonly id?: string;
  readonly value?: unknown;
}

/** A mark in a graph's stream. It resolves when it is read, and thus everything before it. */
export class ReadMark {
  readonly passed: () => void;

  constructor(passed: () => void) {
    this.passed = passed;
  }
}

export interface GraphReaderOptions {
  /** Names of tools whose calls the turn logs itself. */
  readonly loggedElsewhere: ReadonlySet<string>;
  readonly show: (metadata: GraphMessageMetadata) => boolean;
  readonly usage: (counts: Usage) => void;
}

interface PendingCall {
  id: string;
  name: string;
  args: string;
}

/** The modes of a graph's stream that a reader accepts. */
export const STREAM_MODES = ['messages', 'updates', 'custom'] as const;

const LENGTH_REASONS = new Set(['length', 'max_tokens', 'MAX_TOKENS']);

/**
 * Turns a graph's stream into events. Text comes from `messages` as models write it. A call is complete when its message is. `updates`
 * brings messages that no model wrote, such as those in a `Command`, and interrupts.
 */
export class GraphReader {
  readonly #options: GraphReaderOptions;
  readonly #whole = new Set<string>();
  readonly #seen = new WeakSet<object>();
  /** Pieces of calls, by message and index. */
  readonly #pending = new Map<string, Map<number, PendingCall>>();
  readonly #open = new Map<string, GraphToolCall>();
  #interrupts = new Map<string, GraphInterrupt>();
  #breakpoint = false;
  #truncated = false;
  #hasRead = false;

  constructor(options: GraphReaderOptions) {
    this.#options = options;
  }

  /** The calls that wait for their results. */
  get openCalls(): readonly GraphToolCall[] {
    return [...this.#open.values()];
  }

  /** Whether it has read a message. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Notes ids of messages that went in: a node that passes them on says nothing new. */
  knows(ids: Iterable<string>): void {
    for (const id of ids) this.#whole.add(id);
  }

  *read(mode: string, payload: any): Iterable<AppEvent> {
    if (payload instanceof ReadMark) payload.passed();
    else if (mode === 'custom') yield { type: 'custom', name: 'langgraph', payload };
    else if (mode === 'updates') yield* this.#updates(payload ?? {});
    else if (mode === 'messages' && Array.isArray(payload)) {
      const [message, metadata = {}] = payload;
      if (isPiece(message)) yield* this.#piece(message, metadata);
      else yield* this.#message(message, metadata);
    }
  }

  /** Notes why a model stopped, for models whose messages do not say so. */
  stopped(reason: unknown): void {
    if (typeof reason === 'string') this.#truncated = LENGTH_REASONS.has(reason);
  }

  /** Completes calls at the end of the stream. */
  *end(): Iterable<AppEvent> {
    for (const id of this.#pending.keys()) yield* this.#complete(id);
  }

  /** The interrupts since the last call. A breakpoint has no value. */
  takeInterrupts(): readonly GraphInterrupt[] {
    const all = [...this.#interrupts.values()];
    const breakpoint = this.#breakpoint;
    this.#interrupts = new Map();
    this.#breakpoint = false;
    return all.length === 0 && breakpoint ? [{}] : all;
  }

  /** The id of a call that waits for its result, by name and input. */
  openCall(name: string, input: unknown): string | undefined {
    const wanted = JSON.stringify(input);
    for (const [id, call] of this.#open)
      if (
        call.name === name &&
        JSON.stringify(call.args) === wanted &&
        !this.#options.loggedElsewhere.has(name)
      )
        return id;
    return undefined;
  }

  /** The result of the answer. Calls that nobody answered go to the caller of this run. */
  *result(): Generator<AppEvent, AppResult> {
    for (const call of this.#open.values()) {
      if (this.#options.loggedElsewhere.has(call.name)) yield loggedCall(call);
    }
    return { stopReason: this.#open.size > 0 ? 'tool_use' : this.#truncated ? 'max_tokens' : 'end' };
  }

  *#updates(payload: Readonly<Record<string, unknown>>): Iterable<AppEvent> {
    for (const [node, update] of Object.entries(payload)) {
      if (node === '__interrupt__') this.#interrupted(update as GraphInterrupt[]);
      else for (const message of messagesIn(update)) yield* this.#message(message, { langgraph_node: node });
    }
  }

  #interrupted(interrupts: readonly GraphInterrupt[]): void {
    if (interrupts.length === 0) this.#breakpoint = true;
    // Every graph above a subgraph reports its interrupt, so count each id once.
    for (const one of interrupts) this.#interrupts.set(one.id ?? `#${this.#interrupts.size}`, one);
  }

  /** Reads a piece of a message that a model is writing. */
  *#piece(message: GraphMessage, metadata: GraphMessageMetadata): Iterable<AppEvent> {
    const { id = '' } = message;
    this.#whole.add(id);
    this.#count(message, metadata);
    const shown = this.#options.show(metadata);
    if (shown) {
      yield* said(message);
      for (const chunk of message.tool_call_chunks ?? []) this.#gather(id, chunk);
    }
    if (this.#finish(message)) yield* this.#complete(id);
  }

  /** Reads a whole message: of a tool, one that no model streamed, or one that came in pieces before. */
  *#message(message: GraphMessage, metadata: GraphMessageMetadata): Iterable<AppEvent> {
    const role = roleOf(message);
    if (role !== 'assistant' && role !== 'tool') return;
    this.#hasRead = true;
    if (message.id !== undefined) yield* this.#complete(message.id);
    if (!this.#isNew(message)) return;
    const shown = this.#options.show(metadata);
    if (role === 'tool') return yield* this.#toolResult(message, shown);
    this.#count(message, metadata);
    this.#finish(message);
    if (!shown) return;
    yield* said(message);
    for (const call of message.tool_calls ?? []) yield* this.#toolUse(call);
  }

  /** A whole message counts once, in whichever modes and updates it comes. */
  #isNew(message: GraphMessage): boolean {
    const known = this.#seen.has(message) || (message.id !== undefined && this.#whole.has(message.id));
    this.#seen.add(message);
    if (message.id !== undefined) this.#whole.add(message.id);
    return !known;
  }

  #count(
    { usage_metadata: counts, response_metadata: told }: GraphMessage,
    metadata: GraphMessageMetadata,
  ): void {
    const model = told?.model_name ?? told?.model ?? metadata.ls_model_name;
    if (counts) this.#options.usage({ ...(typeof model === 'string' && { model }), ...countsOf(counts) });
  }

  #finish(message: GraphMessage): boolean {
    const reason = finishOf(message);
    this.stopped(reason);
    return reason !== undefined;
  }

  #gather(messageId: string, { index = 0, id, name, args }: GraphToolCallChunk): void {
    const calls = this.#pending.get(messageId) ?? new Map<number, PendingCall>();
    const call = calls.get(index) ?? { id: '', name: '', args: '' };
    call.id ||= id ?? '';
    call.name += name ?? '';
    call.args += args ?? '';
    this.#pending.set(messageId, calls.set(index, call));
  }

  *#complete(messageId: string): Iterable<AppEvent> {
    const calls = this.#pending.get(messageId);
    this.#pending.delete(messageId);
    for (const { id, name, args } of calls?.values() ?? [])
      yield* this.#toolUse({ id, name, args: parse(args) });
  }

  *#toolUse(call: GraphToolCall): Iterable<AppEvent> {
    this.#open.set(call.id ?? '', call);
    if (!this.#options.loggedElsewhere.has(call.name)) yield loggedCall(call);
  }

  *#toolResult(message: GraphMessage, shown: boolean): Iterable<AppEvent> {
    const callId = message.tool_call_id ?? '';
    for (const [id, calls] of this.#pending) {
      // A call with a result is complete, even if the end of its message was not seen.
      if ([...calls.values()].some((one) => one.id === callId)) yield* this.#complete(id);
    }
    const call = this.#open.get(callId);
    this.#open.delete(callId);
    const name = message.name ?? call?.name ?? '';
    if (!shown || this.#options.loggedElsewhere.has(name)) return;
    yield {
      type: 'tool_result',
      callId: fittingId(callId),
      name,
      output: outputOf(message),
      isError: message.status === 'error',
    };
  }
}

/** A call as the log has it. */
function loggedCall({ id = '', name, args }: GraphToolCall): AppEvent {
  return { type: 'tool_use', callId: fittingId(id), name, input: args };
}

function isPiece(message: GraphMessage): boolean {
  return message.tool_call_chunks !== undefined || message.type === 'AIMessageChunk';
}

function* said(message: GraphMessage): Iterable<AppEvent> {
  for (const block of fromGraphContent(message)) {
    if (block.type === 'text') yield { type: 'content_delta', delta: block.text };
    else if (block.type === 'reasoning') yield { type: 'reasoning_delta', delta: block.text };
  }
}

function countsOf({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  total_tokens: totalTokens,
  input_token_details: { cache_read: cachedInputTokens } = {},
  output_token_details: { reasoning: reasoningTokens } = {},
}: NonNullable<GraphMessage['usage_metadata']>): Usage {
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(totalTokens !== undefined && { totalTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

/** The reason why the model stopped, under any of the providers' names for it. */
function finishOf({
  response_metadata: metadata,
  additional_kwargs: extra,
}: GraphMessage): string | undefined {
  const found =
    metadata?.finish_reason ?? metadata?.stop_reason ?? metadata?.finishReason ?? extra?.stop_reason;
  return typeof found === 'string' ? found : undefined;
}

/** The input of a call. Text that is not JSON is passed on for the tool to refuse. */
function parse(args: string): unknown {
  try {
    return args === '' ? {} : JSON.parse(args);
  } catch {
    return args;
  }
}
