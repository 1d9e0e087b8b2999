import type { EventOf, GatewayEvent } from '../../../shared/events.js';
import type { SessionState } from '../../../shared/fold.js';
import type { Message, ToolResultBlock } from '../../../shared/messages.js';
import type { RunResult } from '../../../shared/operation-types.js';
import type { ToolProgressListener } from '../../sessions/session-calls.js';
import type { McpQuestion } from './question.js';

/** The field of a run's metadata that names the tool of a task. Other runs of the session are no tasks. */
export const TASK_TOOL = 'mcpTask';

/** The end of the run of a task. */
export type TaskEnd = Pick<RunResult, 'stopReason' | 'error' | 'message'>;

/** Reads the run of a task: from its events, or from what is kept once those are cut. */
export class McpTaskReader {
  readonly runId: string;
  /** Name of the tool; undefined if the run is no task. */
  tool: string | undefined;
  beganAt = 0;
  changedAt = 0;
  /** The last progress, in words. */
  progress: string | undefined;
  /** Confirmations that nobody has answered yet, by their ids. */
  readonly questions = new Map<string, McpQuestion>();
  /** Ids of other questions, which only the session's clients can answer. */
  readonly #elsewhere = new Set<string>();
  #isAsking = false;
  end: TaskEnd | null = null;
  #error: TaskEnd['error'];
  readonly #heard: ToolProgressListener | undefined;

  /** @param heard Receives the tool's progress */
  constructor(runId: string, heard?: ToolProgressListener) {
    this.runId = runId;
    this.#heard = heard;
  }

  /** Whether it waits for a person. */
  get asks(): boolean {
    return this.questions.size > 0 || this.#elsewhere.size > 0;
  }

  /** Whether its caller can go on: it is over, or asks. A question that has its answer further on in the log is none. */
  get over(): boolean {
    return this.end !== null || this.#isAsking;
  }

  head(): void {
    this.#isAsking = this.asks;
  }

  take(event: GatewayEvent): void {
    this.#isAsking = false;
    if (!('runId' in event) || event.runId !== this.runId) return;
    this.changedAt = event.ts ?? this.changedAt;
    switch (event.type) {
      case 'run_spawned':
        this.beganAt = event.ts;
        this.#named(event.metadata?.[TASK_TOOL]);
        break;
      case 'tool_progress':
        this.progress = wordsOf(event);
        this.#heard?.(event);
        break;
      case 'tool_confirmation_required':
        this.questions.set(event.callId, event);
        break;
      case 'input_required':
        this.#elsewhere.add(event.callId);
        break;
      case 'tool_confirmation_result':
      case 'input_result':
        this.questions.delete(event.callId);
        this.#elsewhere.delete(event.callId);
        break;
      case 'run_error':
        this.#error = { code: event.code, message: event.message };
        break;
      case 'message_end':
        this.#ended({ ...event, ...(this.#error && { error: this.#error }) });
    }
  }

  #named(tool: unknown): void {
    if (typeof tool === 'string') this.tool = tool;
  }

  #ended(end: TaskEnd): void {
    this.questions.clear();
    this.#elsewhere.clear();
    this.end = end;
  }

  /** Takes what is kept of a run that has ended. */
  recall(result: RunResult): void {
    this.#kept(result.message);
    this.#ended(result);
  }

  /** Takes what the session's state has of a run that is under way. */
  join({ lanes = [], pending }: SessionState): void {
    const lane = lanes.find(({ runId }) => runId === this.runId);
    if (lane) this.#kept(lane.message);
    for (const { kind, ...question } of pending)
      if (question.runId !== this.runId) continue;
      else if (kind === 'input') this.#elsewhere.add(question.callId);
      else this.questions.set(question.callId, { input: null, ...question });
  }

  /** The answer of a task begins with its call. */
  #kept({ content: [call], createdAt, endedAt = createdAt }: Message): void {
    if (call?.type === 'tool_use') this.#named(call.name);
    this.beganAt = createdAt;
    this.changedAt = endedAt;
  }

  /** The result of the tool. */
  get result(): ToolResultBlock | undefined {
    return this.end?.message.content.find((block) => block.type === 'tool_result');
  }
}

function wordsOf({ value, total, message }: EventOf<'tool_progress'>): string {
  return message ?? (total === undefined ? String(value) : `${value}/${total}`);
}
