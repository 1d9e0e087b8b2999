import type { EventOf, GatewayEvent } from '../events.js';
import type { StopReason } from '../messages.js';
import { failureOf, type RunFailure } from '../run-failure.js';
import { type UnsaidBlock, urlOf } from '../said.js';
import type { SegmentWriter } from '../segment-stream.js';
import type { Subagent } from '../subagents.js';
import type { UiChunk, UiFinishReason } from './chunks.js';
import { metadataOf, type UiMessageInfo, type UiStreamOptions } from './options.js';

interface UiToolCall {
  readonly toolName: string;
  readonly input: unknown;
  /** Whether the user's client answers it. */
  readonly isClients: boolean;
  /** Whether it is a question of the app, which has no result of its own. */
  readonly isQuestion: boolean;
  /** Whether the page was told that somebody else runs it. */
  isElsewhere?: boolean;
  /** Whether its approval was requested. */
  isAsked?: boolean;
  denied?: boolean;
}

/**
 * Tells a run's events in the chunks of a UI message stream: a fold without clock or chance, so that the same events are the same chunks
 * for every reader. Feed it each event of the run once, in order.
 */
export class UiWriter implements SegmentWriter<UiChunk> {
  readonly #runId: string;
  readonly #options: UiStreamOptions;
  readonly #calls = new Map<string, UiToolCall>();
  readonly #data = new Set<string>();
  #messageId: string | null = null;
  #open: { readonly kind: 'text' | 'reasoning'; readonly id: string } | null = null;
  #inStep = false;
  /** Whether the next chunk begins a step, since something was or must be answered. */
  #stepDue = false;
  #error: RunFailure | null = null;

  constructor(runId: string, options: UiStreamOptions) {
    this.#runId = runId;
    this.#options = options;
  }

  /** @param settled For a question: it is no longer open, so that nobody is asked. The number of chunks stays the same. */
  take(event: GatewayEvent, settled = false): UiChunk[] {
    switch (event.type) {
      case 'message_start':
        this.#messageId = event.messageId;
        return [this.#start()];
      case 'content_delta':
        return this.#delta('text', event);
      case 'reasoning_delta':
        return this.#delta('reasoning', event);
      case 'tool_use':
        return this.#called(event);
      case 'tool_confirmation_required':
        return this.#toConfirm(event, settled);
      case 'tool_confirmation_result':
        return this.#confirmed(event);
      case 'input_required':
        return this.#asked(event, settled);
      case 'input_result':
        return this.#calls.get(event.callId)?.isQuestion ? this.#output(event.callId, event.output) : [];
      case 'tool_progress': {
        const { callId, value, total, message } = event;
        const data = {
          value,
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message }),
        };
        return [{ type: 'data-tool-progress', id: callId, data, transient: true }];
      }
      case 'tool_result':
        return this.#answered(event);
      case 'data': {
        const { id, name, value } = event;
        const chunk = { type: `data-${name.replace(/[^A-Za-z0-9_-]/g, '_')}`, id, data: value } as const;
        if (this.#data.has(id)) return [chunk];
        this.#data.add(id);
        return [...this.#close(), ...this.#step(), chunk];
      }
      case 'message_replaced':
        return this.#replaced(event);
      case 'run_error':
        this.#error = event;
        return [];
      case 'message_end':
        return this.#end(event);
      default:
        return [];
    }
  }

  /** Only version 7 has a word for it: the present step begins again, and says what is left of it. Pages of others are told where to hide parts. */
  #replaced({ content }: EventOf<'message_replaced'>): UiChunk[] {
    if (this.#options.version !== 7)
      return [...this.#close(), { type: 'data-retracted', id: 'retracted', data: { from: content.length } }];
    const before = this.#close();
    if (!this.#inStep || this.#stepDue) return before;
    const from = content.findLastIndex(({ type }) => type === 'tool_use' || type === 'tool_result') + 1;
    const left = content.slice(from).flatMap((block, at): UiChunk[] => {
      const index = from + at;
      if (block.type === 'data') return this.take({ ...block, ts: 0 } as unknown as GatewayEvent);
      if (block.type !== 'text' && block.type !== 'reasoning') return [];
      return block.text === '' ? [] : this.#delta(block.type, { index, delta: block.text });
    });
    return [...before, { type: 'reset-step' }, ...left];
  }

  /** Content that has no event. */
  block(block: UnsaidBlock): UiChunk[] {
    return [...this.#close(), ...this.#step(), blockChunk(block)];
  }

  /** A child run: one part, replaced as the run goes on. It is no part of a step, and may come within a text. */
  subagent(subagent: Subagent): UiChunk[] {
    return [{ type: 'data-subagent', id: subagent.runId, data: subagent }];
  }

  /** The segment ends at a question. @param cursor Place of the question */
  pause(cursor: string | undefined): UiChunk[] {
    const info = { runId: this.#runId, ...(cursor !== undefined && { cursor }) };
    return [...this.#endStep(true), this.#finish('tool-calls', info)];
  }

  /** The next segment begins. It continues the same message. */
  resume(): UiChunk[] {
    this.#inStep = false;
    this.#stepDue = true;
    return [this.#start()];
  }

  /** Continues after an answered question, where a new segment could begin. */
  pass(): UiChunk[] {
    this.#stepDue = true;
    return this.#close();
  }

  #start(): UiChunk {
    const messageMetadata = metadataOf({ runId: this.#runId }, this.#options);
    return {
      type: 'start',
      ...(this.#messageId !== null && { messageId: this.#messageId }),
      messageMetadata,
    };
  }

  #finish(finishReason: UiFinishReason, info: UiMessageInfo): UiChunk {
    return { type: 'finish', finishReason, messageMetadata: metadataOf(info, this.#options) };
  }

  #delta(
    kind: 'text' | 'reasoning',
    { index, delta }: { readonly index: number; readonly delta: string },
  ): UiChunk[] {
    const id = `${kind}-${index}`;
    const chunk = { type: `${kind}-delta`, id, delta } as const;
    if (this.#open?.id === id && !this.#stepDue) return [chunk];
    const before = [...this.#close(), ...this.#step()];
    this.#open = { kind, id };
    return [...before, { type: `${kind}-start`, id }, chunk];
  }

  #called({ callId, name, input, runsOn }: EventOf<'tool_use'>): UiChunk[] {
    const call: UiToolCall = { toolName: name, input, isClients: runsOn === 'client', isQuestion: false };
    this.#calls.set(callId, call);
    const before = [...this.#close(), ...this.#step()];
    // A client's call is complete once the client is asked; before, it concerns only the gateway.
    if (call.isClients) return [...before, { type: 'tool-input-start', toolCallId: callId, toolName: name }];
    return [...before, this.#input(callId, call, true)];
  }

  #input(
    toolCallId: string,
    call: UiToolCall,
    providerExecuted: boolean | null,
    input = call.input,
  ): UiChunk {
    const { dynamicTools = true } = this.#options;
    return {
      type: 'tool-input-available',
      toolCallId,
      toolName: call.toolName,
      input: input ?? {},
      ...(dynamicTools && !call.isClients && { dynamic: true }),
      ...(providerExecuted !== null && { providerExecuted }),
    };
  }

  /** A question about a call of the app's own, which the page may not know yet. */
  #about(
    callId: string,
    toolName: string,
    input: unknown,
  ): { readonly call: UiToolCall; readonly before: UiChunk[] } {
    const known = this.#calls.get(callId);
    if (known) return { call: known, before: this.#close() };
    const call: UiToolCall = { toolName, input, isClients: false, isQuestion: true };
    this.#calls.set(callId, call);
    return { call, before: [...this.#close(), ...this.#step()] };
  }

  #toConfirm(event: EventOf<'tool_confirmation_required'>, settled: boolean): UiChunk[] {
    const { callId, name, input, message, policy } = event;
    const { call, before } = this.#about(callId, name, input);
    call.isElsewhere = true;
    const shown = call.isQuestion || call.isClients ? [this.#input(callId, call, true, input)] : [];
    if (this.#options.version === 5) {
      const said = { ...(message !== undefined && { message }), ...(policy && { policy }) };
      const data = { callId, toolName: name, input, ...said, settled };
      return [...before, ...shown, { type: 'data-approval-request', id: callId, data }];
    }
    const request = { type: 'tool-approval-request', approvalId: callId, toolCallId: callId } as const;
    call.isAsked = !settled;
    if (settled) return [...before, ...shown, this.#input(callId, call, true, input)];
    const told: UiChunk[] = policy
      ? [{ type: 'data-approval-policy', id: callId, data: { callId, ...policy } }]
      : [];
    return [...before, ...shown, ...told, request];
  }

  #confirmed(event: EventOf<'tool_confirmation_result'>): UiChunk[] {
    const { callId, approved, reason, input } = event;
    const call = this.#calls.get(callId);
    if (!call) return [];
    if (!approved) {
      call.denied = true;
      this.#stepDue = true;
      if (this.#options.version === 5)
        return [
          {
            type: 'tool-output-error',
            toolCallId: callId,
            errorText: reason ?? 'Denied',
            ...this.#executed(call),
          },
        ];
      return [...this.#responded(event, call), { type: 'tool-output-denied', toolCallId: callId }];
    }
    const told = this.#responded(event, call);
    if (call.isQuestion) {
      const why = reason !== undefined && { reason };
      return [...told, ...this.#output(callId, { approved, ...why, ...(input !== undefined && { input }) })];
    }
    return input === undefined ? told : [this.#input(callId, call, true, input), ...told];
  }

  #responded(
    { callId, approved, reason }: EventOf<'tool_confirmation_result'>,
    { isAsked }: UiToolCall,
  ): UiChunk[] {
    if (this.#options.version !== 7) return [];
    const approval = { approvalId: callId };
    const why = reason !== undefined && { reason };
    // A response to an approval that was not requested fails a page.
    const request: UiChunk[] = isAsked
      ? []
      : [{ type: 'tool-approval-request', ...approval, toolCallId: callId }];
    return [...request, { type: 'tool-approval-response', ...approval, approved, ...why }];
  }

  #asked({ callId, name, payload }: EventOf<'input_required'>, settled: boolean): UiChunk[] {
    const known = this.#calls.get(callId);
    const call: UiToolCall = known ?? { toolName: name, input: payload, isClients: true, isQuestion: true };
    this.#calls.set(callId, call);
    const before = known ? this.#close() : [...this.#close(), ...this.#step()];
    // A page runs every call that is not marked as run elsewhere.
    const elsewhere = settled || (call.isElsewhere ? false : null);
    call.isElsewhere = settled;
    return [...before, this.#input(callId, call, elsewhere, payload ?? call.input)];
  }

  #answered({ callId, output, isError }: EventOf<'tool_result'>): UiChunk[] {
    const call = this.#calls.get(callId);
    if (!call || call.denied) return [];
    if (!isError) return this.#output(callId, output);
    this.#stepDue = true;
    const errorText = typeof output === 'string' ? output : JSON.stringify(output);
    return [{ type: 'tool-output-error', toolCallId: callId, errorText, ...this.#executed(call) }];
  }

  #output(toolCallId: string, output: unknown): UiChunk[] {
    this.#stepDue = true;
    const call = this.#calls.get(toolCallId)!;
    return [{ type: 'tool-output-available', toolCallId, output: output ?? null, ...this.#executed(call) }];
  }

  #executed({ isClients }: UiToolCall): object {
    const { dynamicTools = true } = this.#options;
    return isClients ? {} : { providerExecuted: true, ...(dynamicTools && { dynamic: true }) };
  }

  #close(): UiChunk[] {
    const open = this.#open;
    if (!open) return [];
    this.#open = null;
    return [{ type: `${open.kind}-end`, id: open.id }];
  }

  /** Opens a step, or the next one if something was answered since. */
  #step(): UiChunk[] {
    if (this.#inStep && !this.#stepDue) return [];
    const before: UiChunk[] = this.#inStep ? [{ type: 'finish-step' }] : [];
    this.#inStep = true;
    this.#stepDue = false;
    return [...before, { type: 'start-step' }];
  }

  /** Ends the step. A page sends a new request after an answer whose last step has calls, so another step follows answered calls. */
  #endStep(isPaused: boolean): UiChunk[] {
    const chunks = [...this.#close(), ...(this.#stepDue && !isPaused ? this.#step() : [])];
    if (this.#inStep) chunks.push({ type: 'finish-step' });
    this.#inStep = false;
    return chunks;
  }

  #end({ stopReason, usage, message, cursor }: EventOf<'message_end'>): UiChunk[] {
    const reason = finishReason(stopReason);
    // Without content there is no message.
    if (this.#messageId === null)
      return [...failure(stopReason, this.#error), { type: 'finish', finishReason: reason }];
    const info = {
      runId: this.#runId,
      stopReason,
      ...(usage && { usage }),
      ...(cursor !== undefined && { cursor }),
      ...(message.metadata && { metadata: message.metadata }),
    };
    const failed = failure(stopReason, this.#error);
    const messageMetadata = metadataOf(info, this.#options);
    // Pages read nothing after an error.
    const told: UiChunk[] = failed.some(({ type }) => type === 'error')
      ? [{ type: 'message-metadata', messageMetadata }]
      : [];
    return [...this.#endStep(false), ...told, ...failed, this.#finish(reason, info)];
  }
}

function blockChunk(block: UnsaidBlock): UiChunk {
  if (block.type !== 'resource') return { type: 'file', url: urlOf(block), mediaType: block.mediaType };
  const { uri, text } = block;
  return { type: 'source-url', sourceId: uri, url: uri, ...(text !== undefined && { title: text }) };
}

function failure(stopReason: StopReason, error: RunFailure | null): UiChunk[] {
  switch (stopReason) {
    case 'aborted':
    case 'superseded':
      return [{ type: 'abort', reason: stopReason }];
    default: {
      const failed = failureOf(stopReason, error);
      return failed ? [{ type: 'error', errorText: failed.message }] : [];
    }
  }
}

function finishReason(stopReason: StopReason): UiFinishReason {
  switch (stopReason) {
    case 'end':
      return 'stop';
    case 'max_tokens':
      return 'length';
    case 'tool_use':
      return 'tool-calls';
    case 'error':
      return 'error';
    case 'moderated':
      return 'content-filter';
    default:
      return 'other';
  }
}
