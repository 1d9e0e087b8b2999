import type { AppEvent, Turn } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import { isPlainObject } from '../../schema/schema.js';
import { UpdateQueue } from '../update-queue.js';
import type { ClaudePermission, ClaudeRequest } from './sdk.js';

type ClaudeFields = Readonly<Record<string, unknown>>;

/** Questions that may be open at once. */
const MOST_QUESTIONS = 32;

/** One run, as the agent tells of it: its messages become the answer, its requests for permission are questions to the person. */
export class ClaudeRunReader {
  readonly #turn: Turn;
  readonly queue = new UpdateQueue();
  /** The names of the calls that were told, and whether their results were. */
  readonly #calls = new Map<string, { readonly name: string; isOver: boolean }>();
  /** Messages of the model that came in pieces. */
  readonly #pieced = new Set<unknown>();
  #questions = 0;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  hear(message: ClaudeFields): void {
    const said = fieldsOf(message.message);
    // A sub-agent's calls are shown, and not its words.
    const isOurs = message.parent_tool_use_id == null;
    if (message.type === 'stream_event' && isOurs) this.#grow(fieldsOf(message.event));
    else if (message.type === 'user') for (const block of blocksOf(said)) this.#result(block);
    else if (message.type === 'assistant') {
      // The text of an error is for the log.
      const isShown = isOurs && message.error == null && !this.#pieced.has(said.id);
      for (const block of blocksOf(said)) {
        if (block.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string')
          this.#tell(block.id, block.name, block.input);
        else if (isShown) this.#say(block);
      }
    }
  }

  async permit(
    name: string,
    input: ClaudeFields,
    { toolUseID, title }: ClaudeRequest,
  ): Promise<ClaudePermission> {
    const deny = (message: string): ClaudePermission => ({ behavior: 'deny', message });
    if (this.#questions >= MOST_QUESTIONS) return deny('Too many questions are open');
    this.#questions += 1;
    try {
      this.#tell(toolUseID, name, input);
      await this.queue.drained();
      const asked = { callId: fittingId(toolUseID), name, input, ...(title && { message: title }) };
      const { approved, reason, input: changed = input } = await this.#turn.confirm(asked);
      if (!approved) return deny(reason ?? 'The person does not want this');
      // The person has approved no other input than this.
      if (!isPlainObject(changed)) return deny('The changed input is no object');
      return { behavior: 'allow', updatedInput: { ...changed } };
    } catch {
      return deny('Nobody answered');
    } finally {
      this.#questions -= 1;
    }
  }

  #grow({ type, message, delta }: ClaudeFields): void {
    if (type === 'message_start') this.#pieced.add(fieldsOf(message).id);
    if (type !== 'content_block_delta') return;
    const { type: kind, text, thinking } = fieldsOf(delta);
    if (kind === 'text_delta') this.#say({ type: 'text', text });
    else if (kind === 'thinking_delta') this.#say({ type: 'thinking', thinking });
  }

  #say({ type, text, thinking }: ClaudeFields): void {
    if (type === 'text' && typeof text === 'string' && text !== '') this.queue.put(text);
    else if (type === 'thinking' && typeof thinking === 'string' && thinking !== '')
      this.queue.put({ type: 'reasoning_delta', delta: thinking });
  }

  #tell(id: string, name: string, input: unknown): void {
    if (this.#calls.has(id)) return;
    this.#calls.set(id, { name, isOver: false });
    this.queue.put({ type: 'tool_use', callId: fittingId(id), name, input: input ?? {} });
  }

  #result({ type, tool_use_id: id, content, is_error: isError }: ClaudeFields): void {
    const call = type === 'tool_result' && typeof id === 'string' ? this.#calls.get(id) : undefined;
    if (!call || call.isOver) return;
    call.isOver = true;
    const event: AppEvent = {
      type: 'tool_result',
      callId: fittingId(id as string),
      name: call.name,
      output: outputOf(content),
      isError: isError === true,
    };
    this.queue.put(event);
  }
}

/** The fields of a value of the agent; none if it has none. */
export const fieldsOf = (value: unknown): ClaudeFields => (isPlainObject(value) ? value : {});

function blocksOf({ content }: ClaudeFields): ClaudeFields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isPlainObject) : [];
}

/** The result of a call: its text, or its blocks if there are others. */
function outputOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? null;
  const isText = content.every((block) => typeof fieldsOf(block).text === 'string');
  return isText ? content.map((block) => fieldsOf(block).text).join('\n') : content;
}
