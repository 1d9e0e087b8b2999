import type { Event } from '@ag-ui/client';
import type { AgUiEvent, AgUiMessage } from '../../../shared/ag-ui/events.js';
import { MessagesFold } from '../../../shared/ag-ui/messages.js';
import type { AppEvent } from '../../apps/application.js';
import { readArguments } from '../../chat-format/from-chat.js';
import { fittingId } from '../../ids.js';
import { isPlainObject } from '../../schema/schema.js';
import type { AgUiSdk } from './sdk.js';

/** Id and name of the data block that has the agent's state. */
export const STATE = 'state';

/** A value that the agent tells by snapshots and changes. */
export interface ToldValue {
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
}

export interface ReaderOptions {
  /** Tools that are called and logged through the turn. */
  readonly answered: ReadonlySet<string>;
  /** Names of earlier calls, by id. */
  readonly known: ReadonlyMap<string, string>;
}

/** Reads the events of an agent's run as items of an answer. One lasts as long as a turn. */
export class AgUiRunReader {
  readonly #sdk: Pick<AgUiSdk, 'compactEvents'>;
  readonly #options: ReaderOptions;
  /** Calls of the turn, with their arguments as they come. */
  readonly #calls = new Map<string, { readonly name: string; text: string }>();
  readonly #results = new Set<string>();
  readonly #values = new Map<string, ToldValue>();
  readonly #changed = new Set<string>();
  #fold = new MessagesFold();
  /** Ids of the messages that the request was sent with. */
  #before: ReadonlySet<string> = new Set();
  /** Whether the last thing said was text, which the next message must not run into. */
  #isText = false;

  constructor(sdk: Pick<AgUiSdk, 'compactEvents'>, options: ReaderOptions) {
    this.#sdk = sdk;
    this.#options = options;
  }

  /** Begins a request. @param before The messages that it is sent with */
  begin(before: readonly AgUiMessage[], state: unknown): void {
    this.#before = new Set(before.map(({ id }) => id));
    this.#fold = new MessagesFold();
    if (!this.#values.has(STATE)) this.#values.set(STATE, { id: STATE, name: STATE, value: state });
  }

  /** The messages of the agent since the request began. */
  get said(): readonly AgUiMessage[] {
    return this.#fold.messages;
  }

  get state(): unknown {
    return this.#values.get(STATE)?.value;
  }

  /** The name and input of a call, once it is complete. */
  call(id: string): { readonly name: string; readonly input: unknown } | undefined {
    const call = this.#calls.get(id);
    return call && { name: call.name, input: readArguments(call.text) };
  }

  /** Calls of this turn without a result. */
  get open(): string[] {
    return [...this.#calls.keys()].filter((id) => !this.#results.has(id));
  }

  /** Notes that calls have results, which the agent is told with the next request. */
  answered(calls: readonly { readonly id: string }[]): void {
    for (const { id } of calls) this.#results.add(id);
  }

  *read(event: Event): Generator<AppEvent, void> {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_START':
      case 'REASONING_MESSAGE_CONTENT':
        return yield* this.#text(event);
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_END':
      case 'TOOL_CALL_RESULT':
        return yield* this.#tool(event);
      case 'STATE_SNAPSHOT':
        return yield* this.#set(event, { id: STATE, name: STATE, value: event.snapshot });
      case 'STATE_DELTA':
        return yield* this.#patch(event, STATE, event.delta);
      case 'ACTIVITY_SNAPSHOT': {
        const { messageId: id, activityType: name, content: value, replace = true } = event;
        return yield* replace || !this.#values.has(id) ? this.#set(event, { id, name, value }) : [];
      }
      case 'ACTIVITY_DELTA':
        return yield* this.#patch(event, event.messageId, event.patch);
      case 'MESSAGES_SNAPSHOT':
        return yield* this.#snapshot(event.messages as readonly AgUiMessage[]);
      case 'STEP_STARTED':
      case 'STEP_FINISHED':
        return yield passedOn(event);
      case 'CUSTOM':
        yield custom(event);
    }
  }

  /** The values that changed since the last time, as data blocks. */
  *values(): Generator<AppEvent, void> {
    for (const key of this.#changed) {
      const { id, name, value } = this.#values.get(key)!;
      yield { type: 'data', id: fittingId(id), name: fittingId(name), value };
    }
    this.#changed.clear();
  }

  /** Notes what a former process has read. */
  *again({ said, values }: { readonly said: readonly AgUiMessage[]; readonly values: readonly ToldValue[] }) {
    for (const message of said) yield* this.#whole(message);
    for (const value of values) {
      this.#values.set(value.id, value);
      this.#changed.add(value.id);
    }
    yield* this.values();
  }

  /** All values, for a process that reads none of the events. */
  get told(): ToldValue[] {
    return [...this.#values.values()];
  }

  *#text(event: Extract<Event, { type: `${'TEXT' | 'REASONING'}_MESSAGE_${'START' | 'CONTENT'}` }>) {
    if (event.type === 'TEXT_MESSAGE_START') {
      // Agents may tell messages of others, which are no part of the answer.
      if ((event.role ?? 'assistant') !== 'assistant') return;
      const runsInto = this.#isText;
      this.#fold.take(event as AgUiEvent);
      if (runsInto) yield { type: 'content_delta' as const, delta: '\n\n' };
      return;
    }
    this.#fold.take(event as AgUiEvent);
    if (event.type === 'REASONING_MESSAGE_START') return;
    const isText = event.type === 'TEXT_MESSAGE_CONTENT';
    const { messageId, delta } = event;
    if (delta === '' || (isText && !this.#fold.messages.some(({ id }) => id === messageId))) return;
    this.#isText = isText;
    yield isText ? { type: 'content_delta' as const, delta } : { type: 'reasoning_delta' as const, delta };
  }

  *#tool(
    event: Extract<
      Event,
      { type: 'TOOL_CALL_START' | 'TOOL_CALL_ARGS' | 'TOOL_CALL_END' | 'TOOL_CALL_RESULT' }
    >,
  ): Generator<AppEvent, void> {
    const { toolCallId } = event;
    switch (event.type) {
      case 'TOOL_CALL_START': {
        const { toolCallName: name, parentMessageId = toolCallId } = event;
        this.#calls.set(toolCallId, { name, text: '' });
        return this.#fold.take({ type: event.type, toolCallId, toolCallName: name, parentMessageId });
      }
      case 'TOOL_CALL_ARGS': {
        const call = this.#calls.get(toolCallId);
        if (call) call.text += event.delta;
        return this.#fold.take({ type: event.type, toolCallId, delta: event.delta });
      }
      case 'TOOL_CALL_END':
        return yield* this.#called(toolCallId);
      case 'TOOL_CALL_RESULT': {
        const content = typeof event.content === 'string' ? event.content : JSON.stringify(event.content);
        this.#fold.take({
          type: event.type,
          ...{ messageId: event.messageId, toolCallId, content, role: 'tool' },
        });
        yield* this.#result(toolCallId, content);
      }
    }
  }

  *#called(id: string): Generator<AppEvent, void> {
    const { name, input } = this.call(id)!;
    this.#isText = false;
    // The turn logs those calls, under ids of its own.
    if (this.#options.answered.has(name)) return;
    yield { type: 'tool_use', callId: fittingId(id), name: fittingId(name), input };
  }

  *#result(id: string, content: string): Generator<AppEvent, void> {
    const name = this.#calls.get(id)?.name ?? this.#options.known.get(id) ?? 'tool';
    this.#results.add(id);
    this.#isText = false;
    const output = readArguments(content);
    yield {
      type: 'tool_result',
      ...{ callId: fittingId(id), name: fittingId(name), output, isError: false },
    };
  }

  *#set(event: Event, value: ToldValue): Generator<AppEvent, void> {
    this.#values.set(value.id, value);
    this.#changed.add(value.id);
    yield passedOn(event);
  }

  /** Changes a value as a patch says. The library knows how to apply one to a state. */
  *#patch(event: Event, id: string, delta: readonly unknown[]): Generator<AppEvent, void> {
    const told = this.#values.get(id);
    if (!told) return;
    const snapshot = { type: 'STATE_SNAPSHOT', snapshot: told.value ?? {} };
    const [patched] = this.#sdk.compactEvents([snapshot, { type: 'STATE_DELTA', delta }] as never);
    yield* this.#set(event, { ...told, value: (patched as unknown as typeof snapshot).snapshot });
  }

  /** Agents that do not stream tell their answer by the conversation as they have it. */
  *#snapshot(messages: readonly AgUiMessage[]): Generator<AppEvent, void> {
    if (this.#fold.messages.length > 0) return;
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    for (const message of messages.slice(asked + 1))
      if (!this.#before.has(message.id)) yield* this.#whole(message);
  }

  /** Says a message that is known as a whole. */
  *#whole(message: AgUiMessage): Generator<AppEvent, void> {
    for (const event of eventsOf(message)) yield* this.read(event as Event);
  }
}

/** An event of the agent's own. Gateways tell data blocks by such events. */
function custom({ name, value }: Extract<Event, { type: 'CUSTOM' }>): AppEvent {
  const block = isPlainObject(value) ? value : {};
  if (name === 'data' && typeof block.id === 'string' && typeof block.name === 'string')
    return { type: 'data', id: fittingId(block.id), name: fittingId(block.name), value: block.value ?? null };
  return { type: 'custom', name: fittingId(name), payload: value ?? null };
}

/** An event of shared state, for pages of AG-UI, which know it. */
function passedOn({ type, timestamp: _, rawEvent: __, ...payload }: Event): AppEvent {
  return { type: 'custom', name: type, payload };
}

/** The events by which a message is told. */
function eventsOf(message: AgUiMessage): object[] {
  const { id: messageId, role } = message;
  const content = typeof message.content === 'string' ? message.content : '';
  if (role === 'tool') {
    const { toolCallId } = message;
    return [{ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content }];
  }
  if (role !== 'assistant' && role !== 'reasoning') return [];
  const kind = role === 'assistant' ? 'TEXT' : 'REASONING';
  const calls = 'toolCalls' in message ? (message.toolCalls ?? []) : [];
  const text = [
    { type: `${kind}_MESSAGE_START`, messageId, role },
    { type: `${kind}_MESSAGE_CONTENT`, messageId, delta: content },
  ];
  return [
    ...(content === '' ? [] : text),
    ...calls.flatMap(({ id: toolCallId, function: { name: toolCallName, arguments: delta } }) => [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: messageId },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta },
      { type: 'TOOL_CALL_END', toolCallId },
    ]),
  ];
}
