import type {
  ContentBlock as AcpBlock,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { AppEvent, Turn } from '../../apps/application.js';
import { fittingId } from '../../ids.js';
import { UpdateQueue } from '../update-queue.js';
import type { AgentListener } from './agent-process.js';

/** A call of the agent, as far as it has told of it. */
interface AgentCall {
  readonly callId: string;
  name: string;
  title: string;
  input: unknown;
  isTold: boolean;
  isOver: boolean;
  outcome: { content?: ToolCallUpdate['content']; rawOutput?: unknown };
}

const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };
/** Questions that may be open at once. */
const MOST_QUESTIONS = 32;

/** One run, as the agent tells of it: its updates become the answer, its requests for permission are questions to the person. */
export class AcpRunReader implements AgentListener {
  readonly #turn: Turn;
  readonly #queue = new UpdateQueue();
  readonly #calls = new Map<string, AgentCall>();
  #questions = 0;
  /** The cost of the session so far, if the agent tells it. */
  cost: { readonly amount: number; readonly currency: string } | null = null;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** The items of the run, until `end`. */
  items(): AsyncGenerator<string | AppEvent, void> {
    return this.#queue.items();
  }

  room(): Promise<void> {
    return this.#queue.room();
  }

  /** Ends the items, behind what has been said. */
  end(): void {
    for (const call of this.#calls.values()) this.#tell(call);
    this.#queue.end();
  }

  update(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk': {
        const text = textOf(update.content);
        if (text !== '') this.#queue.put(text);
        break;
      }
      case 'agent_thought_chunk': {
        const delta = textOf(update.content);
        if (delta !== '') this.#queue.put({ type: 'reasoning_delta', delta });
        break;
      }
      case 'tool_call':
      case 'tool_call_update':
        this.#trace(update);
        break;
      case 'plan':
        this.#queue.put({ type: 'data', id: 'plan', name: 'plan', value: update.entries });
        break;
      case 'usage_update':
        if (update.cost) this.cost = update.cost;
        break;
      case 'session_info_update':
        if (typeof update.title === 'string') this.#turn.title(update.title);
        break;
      default:
    }
  }

  async permit({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const select = (...kinds: readonly string[]): RequestPermissionResponse => {
      const chosen = kinds.map((kind) => options.find((option) => option.kind === kind)).find(Boolean);
      return chosen ? { outcome: { outcome: 'selected', optionId: chosen.optionId } } : CANCELLED;
    };
    if (this.#questions >= MOST_QUESTIONS) return CANCELLED;
    this.#questions += 1;
    try {
      const call = this.#trace(toolCall);
      this.#tell(call);
      await this.#queue.drained();
      const { callId, name, input, title } = call;
      const { approved, input: changed } = await this.#turn.confirm({
        ...{ callId, name, input },
        ...(title !== '' && { message: title }),
      });
      // The protocol has no place for another input, and what the person did not approve must not run.
      return approved && changed === undefined
        ? select('allow_once', 'allow_always')
        : select('reject_once', 'reject_always');
    } catch {
      return CANCELLED;
    } finally {
      this.#questions -= 1;
    }
  }

  #trace(update: ToolCallUpdate): AgentCall {
    const { toolCallId, title, kind, name, rawInput, rawOutput, content, status } = update;
    let call = this.#calls.get(toolCallId);
    if (!call) {
      const callId = fittingId(toolCallId);
      call = { callId, name: '', title: '', input: undefined, isTold: false, isOver: false, outcome: {} };
      this.#calls.set(toolCallId, call);
    }
    call.name = name ?? kind ?? (call.name || 'other');
    call.title = title ?? call.title;
    call.input = rawInput ?? call.input;
    if (content != null) call.outcome.content = content;
    if (rawOutput != null) call.outcome.rawOutput = rawOutput;
    // A call is told once, so it waits for its input.
    if (call.input !== undefined || (status != null && status !== 'pending')) this.#tell(call);
    if ((status === 'completed' || status === 'failed') && !call.isOver) {
      call.isOver = true;
      const { callId, name: called } = call;
      const isError = status === 'failed';
      this.#queue.put({ type: 'tool_result', callId, name: called, output: outputOf(call), isError });
    }
    return call;
  }

  #tell(call: AgentCall): void {
    if (call.isTold) return;
    call.isTold = true;
    call.input ??= { title: call.title };
    const { callId, name, input } = call;
    this.#queue.put({ type: 'tool_use', callId, name, input });
  }
}

function textOf(block: AcpBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return `[${block.name}](${block.uri})`;
  return block.type === 'resource' && 'text' in block.resource ? block.resource.text : '';
}

/** The result of a call: its own output, or the text and the changes of files that it shows. */
function outputOf({ outcome: { content, rawOutput } }: AgentCall): unknown {
  if (rawOutput !== undefined) return rawOutput;
  const shown = (content ?? []).flatMap((item): unknown[] => {
    if (item.type === 'content') return [textOf(item.content)];
    return item.type === 'diff' ? [{ path: item.path, oldText: item.oldText, newText: item.newText }] : [];
  });
  return shown.length > 1 ? shown : (shown[0] ?? null);
}
