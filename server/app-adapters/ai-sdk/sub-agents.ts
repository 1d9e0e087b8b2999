import type { TextStreamPart, ToolSet } from 'ai';
import type { AppEvent, Turn } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import { askedBy, FedChild } from '../fed-child.js';
import type { OpenCall } from './stream-reader.js';

type SubAgentPart = Readonly<Record<string, unknown>> & { readonly type: string };

/** A message as the SDK's `readUIMessageStream` builds it. */
interface BuiltMessage {
  readonly role: 'assistant';
  readonly parts: readonly SubAgentPart[];
}

interface ToldSubAgent {
  readonly child: FedChild;
  readonly reader: MessageReader;
}

/** Tells the agents that tools run as child runs. Such a tool yields the agent's message, as the SDK's documentation has it, while the message grows. */
export class SubAgents {
  readonly #turn: Turn;
  readonly #told = new Map<string, ToldSubAgent>();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** Takes a part of a stream. @param call The call that it belongs to */
  take(part: TextStreamPart<ToolSet>, call: OpenCall | undefined): void {
    if (!call || (part.type !== 'tool-result' && part.type !== 'tool-error')) return;
    const isOver = part.type === 'tool-error' || !part.preliminary;
    const message = part.type === 'tool-result' ? builtIn(part.output) : null;
    const told = this.#told.get(call.callId) ?? (message && !isOver ? this.#begin(call) : null);
    if (!told) return;
    if (message) for (const item of told.reader.read(message)) told.child.put(item);
    if (isOver) told.child.end();
  }

  /** Ends all children, and waits until that is stored. */
  async end(): Promise<void> {
    const children = [...this.#told.values()].map(({ child }) => child);
    for (const child of children) child.end();
    await Promise.all(children.map((child) => child.over()));
  }

  #begin({ callId, name: app, input }: OpenCall): ToldSubAgent {
    const child = new FedChild(this.#turn, { id: callId, app, message: askedBy(input), callId });
    const told = { child, reader: new MessageReader() };
    this.#told.set(callId, told);
    return told;
  }
}

function builtIn(output: unknown): BuiltMessage | null {
  const { role, parts } = (output ?? {}) as Partial<BuiltMessage>;
  return role === 'assistant' && Array.isArray(parts) ? (output as BuiltMessage) : null;
}

/** Reads what a message has grown by since it was read last. */
class MessageReader {
  readonly #lengths = new Map<number, number>();
  readonly #called = new Set<string>();
  readonly #answered = new Set<string>();

  *read({ parts }: BuiltMessage): Iterable<AppEvent> {
    for (const [at, part] of parts.entries()) {
      if (part.type === 'text' || part.type === 'reasoning') {
        const text = String(part.text);
        const delta = text.slice(this.#lengths.get(at) ?? 0);
        this.#lengths.set(at, text.length);
        if (delta !== '') yield { type: part.type === 'text' ? 'content_delta' : 'reasoning_delta', delta };
      } else if (typeof part.toolCallId === 'string') yield* this.#call(fittingId(part.toolCallId), part);
    }
  }

  *#call(callId: string, part: SubAgentPart): Iterable<AppEvent> {
    const { type, toolName, state, input, output, errorText, preliminary } = part;
    if (state === 'input-streaming') return;
    const name = typeof toolName === 'string' ? toolName : type.replace('tool-', '');
    if (!this.#called.has(callId)) {
      this.#called.add(callId);
      yield { type: 'tool_use', callId, name, input: input ?? {} };
    }
    const isError = state === 'output-error';
    if (this.#answered.has(callId) || preliminary || !(isError || state === 'output-available')) return;
    this.#answered.add(callId);
    yield { type: 'tool_result', callId, name, output: (isError ? errorText : output) ?? null, isError };
  }
}
