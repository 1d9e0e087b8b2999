import type { EventOf, GatewayEvent } from '../../../shared/events.js';
import { type PendingQuestion, reduce, type SessionState } from '../../../shared/fold.js';
import type { ContentBlock, Message } from '../../../shared/messages.js';
import { type AnsweringEvent, type AskingEvent, isAnswer, isAsking } from '../../../shared/segments.js';
import { openQuestions } from '../../../shared/subagents.js';
import { checkpointOf } from './checkpoints.js';
import { blockDelta, blockFinish, blockStart, ending, type Frame, lifecycle, segmentId } from './frames.js';
import { interruptOf } from './interrupts.js';
import { callOf, countsOf, partId, resultId, textOf, toLangChain } from './messages.js';

interface OpenMessage {
  readonly id: string;
  /** Index of the block that grows, in our answer; null between blocks. */
  block: number | null;
  /** The number of finished blocks of the message. */
  blocks: number;
}

/**
 * Converts a session's events to those of LangGraph's protocol. It is a fold without clock or chance, so every reader receives the same
 * events. Feed it each event once, in order.
 */
export class LangGraphWriter {
  #state: SessionState;
  #segment = 0;
  #part = 0;
  /** Whether the message number `#part` has ended. */
  #isPartOver = false;
  #open: OpenMessage | null = null;

  /** @param state The session before the first event */
  constructor(state: SessionState) {
    this.#state = state;
  }

  /** The session up to here. */
  get state(): SessionState {
    return this.#state;
  }

  /** The client's active run, or its last one. */
  get segment(): number {
    return this.#segment;
  }

  /** @param next The events that came together with it, and follow */
  take(event: GatewayEvent, next: readonly GatewayEvent[] = []): Frame[] {
    const before = this.#state;
    this.#state = reduce(before, event);
    const runId = 'runId' in event ? event.runId : undefined;
    const isOurs = runId !== undefined && (before.run ?? this.#state.run)?.runId === runId;
    switch (event.type) {
      case 'history_moved':
        return this.#values(event.ts);
      case 'message_replaced':
        return [...(isOurs ? this.#close() : []), ...this.#values(event.ts)];
      case 'steer':
        return event.consumed && this.#state.run ? this.#values(event.ts) : [];
      case 'custom':
        return [{ method: 'custom', data: { name: event.name, payload: event.payload ?? null } }];
      case 'message_end':
        if (isOurs) return this.#end(event);
        if (this.#isLetGo(before)) return this.#resumed();
        // The client of a run that never began waits for its end, too.
        return before.queue.some((queued) => queued.runId === runId)
          ? [lifecycle('interrupted', runId!, this.#graph)]
          : [];
    }
    if (isAsking(event)) return isAbout(event, this.#state) ? this.#ask(event, next) : [];
    if (isAnswer(event)) return isAbout(event, before) ? this.#answered(event, next) : [];
    return isOurs ? this.#piece(event, before) : [];
  }

  /** Whether the last open question went away with the child run that had asked it. */
  #isLetGo(before: SessionState): boolean {
    return (
      openQuestions(before).length > 0 && this.#state.run !== null && openQuestions(this.#state).length === 0
    );
  }

  /** Begins with a snapshot: each block of the unfinished answer, or else of the last one, comes whole. */
  begin(ts: number): Frame[] {
    const { run } = this.#state;
    const answer = this.#answer;
    const runId = run?.runId ?? answer?.runId;
    this.#restart();
    if (!answer || runId === undefined) return this.#values(ts);
    const frames = [this.#lifecycle('running', runId), ...this.#values(ts)];
    for (const [index, block] of answer.content.entries())
      if (block) frames.push(...this.#block(index, block));
    if (!run) return [...frames, ...this.#ended(runId, answer, ts)];
    const asked = openQuestions(this.#state);
    return asked.length === 0 ? frames : [...frames, ...this.#interrupted(asked, ts)];
  }

  #piece(event: GatewayEvent, before: SessionState): Frame[] {
    switch (event.type) {
      case 'message_start':
        this.#restart();
        return [this.#lifecycle('running', event.runId!), ...this.#values(event.ts)];
      case 'content_delta':
        return this.#delta(event, 'text', before);
      case 'reasoning_delta':
        return this.#delta(event, 'reasoning', before);
      case 'tool_use':
        return this.#call(event);
      case 'tool_result':
        return this.#result(event);
      case 'tool_progress': {
        const { callId, value, total, message } = event;
        return [
          { method: 'custom', data: { name: 'tool_progress', payload: { callId, value, total, message } } },
        ];
      }
      case 'data': {
        const { id, name, value } = event;
        return [{ method: 'custom', data: { name, payload: { id, value } } }];
      }
      default:
        return [];
    }
  }

  #restart(): void {
    this.#segment = 0;
    this.#part = 0;
    this.#isPartOver = false;
    this.#open = null;
  }

  get #graph(): string {
    return this.#state.run?.app ?? '';
  }

  #lifecycle(event: string, runId: string): Frame {
    return lifecycle(event, segmentId(runId, this.#segment), this.#graph);
  }

  /** The whole state, behind the checkpoint by which clients can go back to it. */
  #values(ts: number, answer?: Message): Frame[] {
    const { messages } = this.#state;
    const shown = answer ? [...messages, answer] : messages;
    return [
      { method: 'checkpoints', data: checkpointOf(messages, ts, answer !== undefined) },
      { method: 'values', data: { messages: toLangChain(shown) } },
    ];
  }

  #delta(
    { index, delta }: { readonly index: number; readonly delta: string },
    type: 'text' | 'reasoning',
    before: SessionState,
  ): Frame[] {
    if (this.#open?.block === index) return [blockDelta(this.#open.blocks, type, delta)];
    const had = before.run?.message.content[index];
    // A block that goes on behind a question is told again from its beginning.
    const text = (had?.type === type ? had.text : '') + delta;
    const frames = this.#message();
    this.#open!.block = index;
    const at = this.#open!.blocks;
    return [
      ...frames,
      blockStart(at, type === 'text' ? { type, text: '' } : { type, reasoning: '' }),
      blockDelta(at, type, text),
    ];
  }

  #block(index: number, block: ContentBlock): Frame[] {
    if (block.type === 'text' || block.type === 'reasoning')
      return this.#delta({ index, delta: block.text }, block.type, { ...this.#state, run: null });
    if (block.type === 'tool_use') return this.#call(block);
    return block.type === 'tool_result' ? this.#result(block) : [];
  }

  #call(event: Parameters<typeof callOf>[0]): Frame[] {
    const frames = [...this.#closeBlock(), ...this.#message()];
    const content = callOf(event);
    const at = this.#open!.blocks++;
    const { id: tool_call_id, name: tool_name, args: input } = content;
    return [
      ...frames,
      blockStart(at, content),
      blockFinish(at, content),
      { method: 'tools', data: { event: 'tool-started', tool_call_id, tool_name, input } },
    ];
  }

  #result({
    callId,
    name,
    output,
    isError,
  }: Omit<EventOf<'tool_result'>, 'type' | 'cursor' | 'ts' | 'sessionId'>): Frame[] {
    const text = textOf(output);
    const ended = isError
      ? { event: 'tool-error', tool_call_id: callId, message: text }
      : { event: 'tool-finished', tool_call_id: callId, output };
    const frames = this.#close();
    this.#isPartOver = true;
    const start = { event: 'message-start', role: 'tool', id: resultId(callId), tool_call_id: callId, name };
    return [
      ...frames,
      { method: 'tools', data: ended },
      { method: 'messages', data: start },
      blockStart(0, { type: 'text', text: '' }),
      blockFinish(0, { type: 'text', text }),
      { method: 'messages', data: { event: 'message-finish' } },
    ];
  }

  /** Opens a message for blocks, if none is open. */
  #message(): Frame[] {
    const frames = this.#closeBlock();
    if (this.#open) return frames;
    if (this.#isPartOver) this.#part += 1;
    this.#isPartOver = false;
    const id = partId(this.#answer!.id, this.#part);
    this.#open = { id, block: null, blocks: 0 };
    return [...frames, { method: 'messages', data: { event: 'message-start', role: 'ai', id } }];
  }

  #closeBlock(): Frame[] {
    const open = this.#open;
    if (open?.block == null) return [];
    const block = this.#answer?.content[open.block];
    open.block = null;
    const at = open.blocks++;
    if (block?.type === 'text') return [blockFinish(at, { type: 'text', text: block.text })];
    return block?.type === 'reasoning' ? [blockFinish(at, { type: 'reasoning', reasoning: block.text })] : [];
  }

  #close(data: Readonly<Record<string, unknown>> = {}): Frame[] {
    if (!this.#open) return [];
    const frames = this.#closeBlock();
    this.#open = null;
    return [...frames, { method: 'messages', data: { event: 'message-finish', ...data } }];
  }

  /** The unfinished answer, or the one that has just ended. */
  get #answer(): Message | undefined {
    return this.#state.run?.message ?? this.#state.messages.at(-1);
  }

  #ask(event: AskingEvent, next: readonly GatewayEvent[]): Frame[] {
    const { runId, batch } = event;
    // Questions that were put together are told together.
    const isMore = next.some((other) => isAsking(other) && other.runId === runId && other.batch === batch);
    if (isMore) return [];
    return this.#interrupted(openQuestions(this.#state), event.ts);
  }

  #interrupted(asked: readonly PendingQuestion[], ts: number): Frame[] {
    const run = this.#state.run!;
    return [
      ...this.#close(),
      ...this.#values(ts, run.message),
      ...asked.map(
        (question): Frame => ({
          method: 'input.requested',
          data: { interrupt_id: question.callId, payload: interruptOf(question, run.message) },
        }),
      ),
      this.#lifecycle('interrupted', run.runId),
    ];
  }

  #answered(event: AnsweringEvent, next: readonly GatewayEvent[]): Frame[] {
    const answered: Frame = { method: 'input.answered', data: { interrupt_ids: [event.callId] } };
    // Answers one right behind the other continue the run once.
    const [follower] = next;
    if (follower && isAnswer(follower) && follower.runId === event.runId) return [answered];
    const frames = [...this.#resumed(), answered];
    const left = openQuestions(this.#state);
    return left.length === 0 ? frames : [...frames, ...this.#interrupted(left, event.ts)];
  }

  #resumed(): Frame[] {
    this.#segment += 1;
    return [this.#lifecycle('running', this.#state.run!.runId)];
  }

  #end({ runId, stopReason, usage, ts }: EventOf<'message_end'>): Frame[] {
    const last = this.#state.messages.at(-1);
    // An empty answer is not among the messages.
    const answer = last?.runId === runId ? last : { stopReason, ...(usage && { usage }) };
    return this.#ended(runId!, answer!, ts);
  }

  #ended(runId: string, answer: Partial<Message>, ts: number): Frame[] {
    const { usage, stopReason = 'end' } = answer;
    const counts = usage && { usage: countsOf(usage) };
    const frames = [...this.#close({ reason: stopReason, ...counts }), ...this.#values(ts)];
    return [...frames, ending(segmentId(runId, this.#segment), answer)];
  }
}

/** Whether an event is about one of the open questions of a state. */
function isAbout({ callId }: AskingEvent | AnsweringEvent, state: SessionState): boolean {
  return openQuestions(state).some((question) => question.callId === callId);
}
