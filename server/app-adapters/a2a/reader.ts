import type { AppEvent } from '../../apps/application.js';
import { digestOf } from '../../ids.js';
import { invalidReply } from '../invalid-reply.js';
import { blocksOf, type PartBlock, textIn } from './parts.js';
import type { A2aSdk, AgentMessage, Artifact, TaskItem, TaskStatus } from './sdk.js';

/** The names of a task. */
export interface TaskPlace {
  readonly taskId: string;
  readonly contextId: string;
}

/** The state of a task that goes on by itself no more. */
export type Standing = 'completed' | 'failed' | 'input' | 'auth';

/** One thing that a task has said; `of` is the artifact of a text. */
export type TaskSaid =
  | { readonly text: string; readonly of: string }
  | { readonly thought: string; readonly of: string }
  | { readonly block: PartBlock; readonly of: string };

const MAX_ID = 1024;

/** Reads the stream of a task as items of an answer. One lasts as long as a turn, and says nothing twice. */
export class TaskReader {
  readonly #sdk: Pick<A2aSdk, 'TaskState'>;
  /** The text of each artifact, and the number of its parts that are no text. */
  readonly #artifacts = new Map<string, { text: string; parts: number }>();
  /** Digests of the data blocks, by id. */
  readonly #told = new Map<string, string>();
  readonly #heard = new Set<string>();
  /** Questions that were answered. */
  readonly #answered = new Set<string>();
  #said: TaskSaid[] = [];
  #last: 'text' | 'thought' | null = null;
  #place: TaskPlace | null = null;
  #status: TaskStatus | null = null;
  #standing: Standing | null = null;
  /** Whether something new was read since it was last asked. */
  #isNew = false;

  constructor(sdk: Pick<A2aSdk, 'TaskState'>) {
    this.#sdk = sdk;
  }

  /** The task; null before the agent has named one, and for an agent that answers by a message alone. */
  get place(): TaskPlace | null {
    return this.#place;
  }

  get standing(): Standing | null {
    return this.#standing;
  }

  /** The message of the last status. */
  get message(): AgentMessage | undefined {
    return this.#status?.message;
  }

  /** All that was said since the round began. */
  get said(): readonly TaskSaid[] {
    return this.#said;
  }

  takeNews(): boolean {
    const isNew = this.#isNew;
    this.#isNew = false;
    return isNew;
  }

  /** Begins a round: a message is sent, after which an old question is none any more. */
  begin(): void {
    this.#said = [];
    this.#standing = null;
    if (this.#status) this.#answered.add(questionOf(this.#status));
  }

  /** Takes a task that a former process has begun. */
  take(place: TaskPlace): void {
    this.#place = place;
  }

  /** Notes what a former process has read in a round. */
  *again(said: readonly TaskSaid[], status: TaskStatus | null): Generator<AppEvent, void> {
    for (const one of said)
      if ('text' in one) yield* this.#text(one.of, one.text);
      else if ('thought' in one) yield* this.#thought(one.of, one.thought);
      else {
        if (one.of !== '') this.#known(one.of).parts += 1;
        yield* this.#blocks(one.of, [one.block]);
      }
    this.#status = status;
  }

  get status(): TaskStatus | null {
    return this.#status;
  }

  /** @throws GatewayError `APP_REPLY_INVALID` for an item of another task, and for none */
  *read({ payload }: TaskItem): Generator<AppEvent, void> {
    switch (payload?.$case) {
      case 'message':
        this.#isNew = true;
        yield* this.#message(payload.value);
        this.#standing = 'completed';
        return;
      case 'task': {
        const { id, contextId, artifacts, status } = payload.value;
        this.#of({ taskId: id, contextId });
        for (const artifact of artifacts) yield* this.#artifact(artifact, false);
        // A task that is told as a whole may be older than the answer to its question.
        if (status && !this.#answered.has(questionOf(status))) yield* this.#move(status);
        return;
      }
      case 'artifactUpdate': {
        const { artifact, append, taskId, contextId } = payload.value;
        this.#of({ taskId, contextId });
        if (artifact) yield* this.#artifact(artifact, append);
        return;
      }
      case 'statusUpdate': {
        const { status, taskId, contextId } = payload.value;
        this.#of({ taskId, contextId });
        if (status) yield* this.#move(status);
        return;
      }
      default:
        throw invalidReply('an item has no task, message or update');
    }
  }

  #of(place: TaskPlace): void {
    const { taskId, contextId } = place;
    if (taskId === '' || taskId.length > MAX_ID || contextId.length > MAX_ID)
      throw invalidReply(`ids must have 1 to ${MAX_ID} characters`);
    if (this.#place && this.#place.taskId !== taskId) throw invalidReply('an item is of another task');
    this.#place ??= place;
  }

  *#move(status: TaskStatus): Generator<AppEvent, void> {
    const { TaskState } = this.#sdk;
    this.#isNew ||= this.#status?.state !== status.state;
    this.#status = status;
    const { state, message } = status;
    switch (state) {
      case TaskState.TASK_STATE_COMPLETED:
        if (message) yield* this.#message(message);
        this.#standing = 'completed';
        return;
      case TaskState.TASK_STATE_FAILED:
      case TaskState.TASK_STATE_REJECTED:
      case TaskState.TASK_STATE_CANCELED:
        this.#standing = 'failed';
        return;
      case TaskState.TASK_STATE_INPUT_REQUIRED:
        this.#standing = 'input';
        return;
      case TaskState.TASK_STATE_AUTH_REQUIRED:
        this.#standing = 'auth';
        return;
      default:
        this.#standing = null;
        if (!message || this.#heard.has(message.messageId)) return;
        this.#isNew = true;
        yield* this.#thought(message.messageId, textIn(message.parts));
        yield* this.#blocks('', blocksOf(message.parts, { id: message.messageId, name: 'status' }));
    }
  }

  /** A message that is an answer. Some agents have the text of their artifact in it too. */
  *#message({ messageId, parts }: AgentMessage): Generator<AppEvent, void> {
    const text = textIn(parts);
    const isSaid = [...this.#artifacts.values()].some((artifact) => artifact.text === text);
    if (!isSaid) yield* this.#text(messageId, text);
    yield* this.#blocks('', blocksOf(parts, { id: messageId, name: 'data' }));
  }

  *#artifact({ artifactId, name, parts }: Artifact, append: boolean): Generator<AppEvent, void> {
    const known = this.#known(artifactId);
    const text = textIn(parts);
    const isLonger = !append && text.startsWith(known.text);
    if (!append && !isLonger) known.text = '';
    yield* this.#text(artifactId, isLonger ? text.slice(known.text.length) : text);
    const from = append ? known.parts : 0;
    const blocks = blocksOf(parts, { id: artifactId, name, from });
    known.parts = from + blocks.length;
    yield* this.#blocks(artifactId, blocks);
  }

  #known(id: string): { text: string; parts: number } {
    const known = this.#artifacts.get(id) ?? { text: '', parts: 0 };
    this.#artifacts.set(id, known);
    return known;
  }

  *#text(of: string, text: string): Generator<AppEvent, void> {
    const known = this.#known(of);
    if (text === '') return;
    const isOther = this.#last === 'text' && known.text === '';
    known.text += text;
    this.#last = 'text';
    this.#isNew = true;
    const last = this.#said.at(-1);
    if (last && 'text' in last && last.of === of)
      this.#said[this.#said.length - 1] = { text: last.text + text, of };
    else this.#said.push({ text, of });
    if (isOther) yield { type: 'content_delta', delta: '\n\n' };
    yield { type: 'content_delta', delta: text };
  }

  *#thought(of: string, text: string): Generator<AppEvent, void> {
    this.#heard.add(of);
    if (text === '') return;
    const isNext = this.#last === 'thought';
    this.#last = 'thought';
    this.#said.push({ thought: text, of });
    yield { type: 'reasoning_delta', delta: isNext ? `\n${text}` : text };
  }

  *#blocks(of: string, blocks: readonly PartBlock[]): Generator<AppEvent, void> {
    for (const block of blocks) {
      const digest = digestOf(JSON.stringify(block));
      if (this.#told.get(block.id) === digest) continue;
      this.#told.set(block.id, digest);
      this.#last = null;
      this.#isNew = true;
      this.#said.push({ block, of });
      yield block;
    }
  }
}

/** Tells a question of a task from its others. */
const questionOf = ({ state, message, timestamp }: TaskStatus): string =>
  `${state}:${message?.messageId ?? timestamp ?? ''}`;
