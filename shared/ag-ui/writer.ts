import type { EventOf, GatewayEvent } from '../events.js';
import type { Usage } from '../messages.js';
import { failureOf } from '../run-failure.js';
import type { Subagent } from '../subagents.js';
import {
  type AgUiEvent,
  type AgUiInterrupt,
  type AgUiNames,
  type AgUiOutcome,
  type AgUiPassedOn,
  PASSED_ON,
} from './events.js';
import { SubagentTeller } from './subagents.js';

interface AgUiCall {
  /** Whether the user's client answers it. */
  readonly isClients: boolean;
  isAnswered?: boolean;
}

interface OpenPart {
  readonly kind: 'TEXT' | 'REASONING';
  readonly id: string;
  readonly index: number;
}

/** JSON Schema of the answer to a confirmation. */
const APPROVAL = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' }, input: {} },
  required: ['approved'],
} as const;

/** Digest of `APPROVAL` as TanStack AI makes it, which takes an answer only for the schema that the digest names. */
const APPROVAL_DIGEST = 'sha256:b6e1b99a953c4f2a3a7ab12c088a8d233da87feeac27f9d0ac69821d45bb757c';

/**
 * Tells a run's events in those of AG-UI: a fold without clock or chance, so that the same events are told the same to every reader. Feed
 * it each event of the run once, in order.
 */
export class AgUiWriter {
  readonly #names: AgUiNames;
  readonly #tellsAnswers: boolean;
  readonly #calls = new Map<string, AgUiCall>();
  readonly #used = new Map<string, number>();
  readonly #subagents: SubagentTeller;
  #messageId = '';
  #open: OpenPart | null = null;
  /** The message that a call belongs to: the text just before the call, or the calls made together with it. */
  #round: string | null = null;
  #interrupts: AgUiInterrupt[] = [];
  #inputs: string[] = [];
  #error: { readonly code: string; readonly message: string } | null = null;

  /** @param options `tellsAnswers`: whether to tell the answers of clients, which the client that gave them already knows */
  constructor(names: AgUiNames, { tellsAnswers }: { readonly tellsAnswers: boolean }) {
    this.#names = names;
    this.#tellsAnswers = tellsAnswers;
    this.#subagents = new SubagentTeller(names.version);
  }

  /** Prefix of the ids of the answer's messages; empty before the answer has begun. */
  get messageId(): string {
    return this.#messageId;
  }

  /** A run of the client's begins. */
  start(): AgUiEvent[] {
    const { threadId, runId, version } = this.#names;
    const protocol = version === '1.0' && { protocolVersion: version };
    return [{ type: 'RUN_STARTED', threadId, runId, ...protocol }];
  }

  /** @param settled For a question: it is no longer open, so that nobody is asked */
  take(event: GatewayEvent, settled = false): AgUiEvent[] {
    switch (event.type) {
      case 'message_start':
        this.#messageId = event.messageId;
        return [];
      case 'content_delta':
        return this.#delta('TEXT', event);
      case 'reasoning_delta':
        return this.#delta('REASONING', event);
      case 'tool_use': {
        this.#calls.set(event.callId, { isClients: event.runsOn === 'client' });
        const before = this.#close();
        this.#round ??= `${this.#messageId}:${event.callId}`;
        return [...before, ...called(event.callId, event.name, event.input, this.#round)];
      }
      case 'tool_confirmation_required':
        if (!settled) this.#interrupts.push(this.#toConfirm(event));
        return this.#close();
      case 'input_required': {
        const { callId, name, payload } = event;
        if (!settled) this.#inputs.push(callId);
        const toRun = settled ? [] : this.#toRun(event);
        if (this.#calls.has(callId)) return [...this.#close(), ...toRun];
        this.#calls.set(callId, { isClients: true });
        this.#round = null;
        const call = called(callId, name, payload, `${this.#messageId}:${callId}`);
        return [...this.#close(), ...call, ...toRun];
      }
      case 'input_result':
      case 'tool_result':
        return this.#answered(event);
      case 'tool_progress': {
        const { callId, value, total, message } = event;
        const more = { ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
        return [{ type: 'CUSTOM', name: 'tool_progress', value: { callId, value, ...more } }];
      }
      case 'data': {
        const { id, name, value } = event;
        return [{ type: 'CUSTOM', name: 'data', value: { id, name, value } }];
      }
      case 'custom':
        return [given(event)];
      case 'message_replaced': {
        const { messageId, content } = event;
        // The protocol can take no message back within a run. The snapshot of the next one does.
        return [
          ...this.#close(),
          { type: 'CUSTOM', name: 'retracted', value: { messageId, from: content.length } },
        ];
      }
      case 'run_error':
        this.#error = event;
        return [];
      case 'message_end':
        return [...this.#close(), ...this.#subagents.pause(), this.#end(event)];
      default:
        return [];
    }
  }

  /** The client's run ends at questions. */
  pause(): AgUiEvent[] {
    const [interrupts, inputs] = [this.#interrupts, this.#inputs];
    this.#interrupts = [];
    this.#inputs = [];
    return [...this.#close(), ...this.#subagents.pause(), this.#finished(this.#asking(interrupts, inputs))];
  }

  /** A child run. */
  subagent(subagent: Subagent): AgUiEvent[] {
    return this.#subagents.tell(subagent);
  }

  /** Continues after questions. */
  pass(): void {
    this.#interrupts = [];
    this.#inputs = [];
    this.#round = null;
  }

  /** Tells the client to run one of its tools, if the client waits for that event. */
  #toRun({ callId: toolCallId, name: toolName, payload: input }: EventOf<'input_required'>): AgUiEvent[] {
    if (!this.#names.waitsToRun) return [];
    return [{ type: 'CUSTOM', name: 'tool-input-available', value: { toolCallId, toolName, input } }];
  }

  #asking(interrupts: readonly AgUiInterrupt[], inputs: readonly string[]): AgUiOutcome {
    if (interrupts.length > 0) return { type: 'interrupt', interrupts };
    return this.#pending(inputs);
  }

  #pending(callIds: readonly string[]): AgUiOutcome {
    const isKnown = this.#names.version === '1.0' && callIds.length > 0;
    return { type: 'success', ...(isKnown && { pendingToolCallIds: callIds }) };
  }

  #toConfirm({ callId, name, input, message, policy }: EventOf<'tool_confirmation_required'>): AgUiInterrupt {
    const expiresAt = policy?.expiresAt;
    const said = {
      ...(message !== undefined && { message }),
      ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    };
    const metadata = {
      name,
      input,
      ...(policy && { policy }),
      'tanstack:interruptBinding': this.#bindingOf(callId),
    };
    const base = { id: callId, ...said, responseSchema: APPROVAL, metadata };
    return this.#calls.has(callId)
      ? { ...base, reason: 'tool_call', toolCallId: callId }
      : { ...base, reason: 'confirmation' };
  }

  /** Binds an interrupt to its run and schema, since TanStack AI lets it be answered only with them. */
  #bindingOf(interruptId: string): object {
    const { runId: interruptedRunId } = this.#names;
    const named = { v: 1, kind: 'generic', interruptId, interruptedRunId };
    return { ...named, generation: 0, responseSchemaHash: APPROVAL_DIGEST };
  }

  #delta(
    kind: OpenPart['kind'],
    { index, delta }: { readonly index: number; readonly delta: string },
  ): AgUiEvent[] {
    const open = this.#open;
    // A message without text has no place in the protocol.
    if (delta === '') return [];
    if (open?.kind === kind && open.index === index)
      return [{ type: `${kind}_MESSAGE_CONTENT`, messageId: open.id, delta }];
    const before = this.#close();
    const id = this.#blockId(kind, index);
    this.#open = { kind, id, index };
    this.#round = kind === 'TEXT' ? id : null;
    const content = { type: `${kind}_MESSAGE_CONTENT`, messageId: id, delta } as const;
    if (kind === 'TEXT')
      return [...before, { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' }, content];
    return [
      ...before,
      { type: 'REASONING_START', messageId: id },
      { type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning' },
      content,
    ];
  }

  /** A block that continues after a question becomes another message, because it must follow the answer. */
  #blockId(kind: OpenPart['kind'], index: number): string {
    const base = this.#messageId;
    const id = kind === 'TEXT' ? (index === 0 ? base : `${base}:${index}`) : `${base}:reasoning:${index}`;
    const times = this.#used.get(id) ?? 0;
    this.#used.set(id, times + 1);
    if (times === 0) return id;
    return index === 0 && kind === 'TEXT' ? `${base}:0.${times}` : `${id}.${times}`;
  }

  #close(): AgUiEvent[] {
    const open = this.#open;
    if (!open) return [];
    this.#open = null;
    const messageId = open.id;
    if (open.kind === 'TEXT') return [{ type: 'TEXT_MESSAGE_END', messageId }];
    return [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ];
  }

  /** A client's call may have two results: the client's answer, and the one that the app was given. The first counts. */
  #answered({ callId, output }: EventOf<'input_result'> | EventOf<'tool_result'>): AgUiEvent[] {
    const call = this.#calls.get(callId);
    if (!call || call.isAnswered) return [];
    call.isAnswered = true;
    const before = this.#close();
    this.#round = null;
    if (call.isClients && !this.#tellsAnswers) return before;
    const result = { messageId: resultId(callId), toolCallId: callId, content: textOf(output) };
    return [...before, { type: 'TOOL_CALL_RESULT', ...result, role: 'tool' }];
  }

  #end({ stopReason, usage }: EventOf<'message_end'>): AgUiEvent {
    const failure = failureOf(stopReason, this.#error);
    if (failure) return { type: 'RUN_ERROR', ...failure };
    if (stopReason === 'aborted' || stopReason === 'superseded') {
      if (this.#names.version === '1.0') return this.#finished({ type: 'cancelled' });
      return { type: 'RUN_ERROR', message: 'The answer was stopped', code: 'ABORTED' };
    }
    const open = [...this.#calls].filter(([, call]) => !call.isAnswered).map(([callId]) => callId);
    return this.#finished(this.#pending(stopReason === 'tool_use' ? open : []), usage);
  }

  #finished(outcome: AgUiOutcome, usage?: Usage): AgUiEvent {
    const { threadId, runId } = this.#names;
    const counts = countsOf(usage);
    return { type: 'RUN_FINISHED', threadId, runId, outcome, ...(counts && { usage: [counts] }) };
  }
}

/** The id of the message that tells the result of a call. */
export function resultId(callId: string): string {
  return `${callId}:result`;
}

function called(
  toolCallId: string,
  toolCallName: string,
  input: unknown,
  parentMessageId: string,
): AgUiEvent[] {
  return [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: textOf(input ?? {}) },
    { type: 'TOOL_CALL_END', toolCallId },
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function given({ name, payload }: EventOf<'custom'>): AgUiEvent {
  const isPassedOn = (PASSED_ON as readonly string[]).includes(name);
  return isPassedOn && typeof payload === 'object' && payload !== null
    ? { ...payload, type: name as AgUiPassedOn }
    : { type: 'CUSTOM', name, value: payload ?? null };
}

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'cacheWriteInputTokens',
] as const;

/** Token counts; the protocol has whole numbers alone. */
function countsOf(usage: Usage | undefined): Readonly<Record<string, number>> | null {
  const counts: Record<string, number> = {};
  for (const name of COUNTS) {
    const count = usage?.[name];
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) counts[name] = count;
  }
  return Object.keys(counts).length > 0 ? counts : null;
}
