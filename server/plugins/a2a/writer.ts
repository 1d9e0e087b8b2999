import { composeId } from '../../../shared/composed-id.js';
import type { EventOf, GatewayEvent } from '../../../shared/events.js';
import type { Message, StopReason } from '../../../shared/messages.js';
import { pick } from '../../../shared/pick.js';
import { failureOf } from '../../../shared/run-failure.js';
import type { UnsaidBlock } from '../../../shared/said.js';
import type { SegmentWriter } from '../../../shared/segment-stream.js';
import type { AskingEvent } from '../../../shared/segments.js';
import { type A2aArtifact, type A2aEvent, type A2aPart, type A2aTask, toParts } from './objects.js';

/** The id of the task that a run is. @param contextId The session's id, as the client has it */
export const taskId = (contextId: string, runId: string): string => composeId(contextId, runId);

/** The state of a task that waits for an answer. */
export const ASKING = 'TASK_STATE_INPUT_REQUIRED';
const WORKING = 'TASK_STATE_WORKING';
const [COMPLETED, FAILED, CANCELED] = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'];

const ENDS: Partial<Record<StopReason, string>> = {
  ...{ error: FAILED, timeout: FAILED, lost: FAILED, moderated: FAILED, budget: FAILED },
  ...{ aborted: CANCELED, superseded: CANCELED, taken_over: CANCELED, handed_off: CANCELED },
};

const NONE: readonly A2aEvent[] = [];

/** Tells a run as a task, and keeps the task as it is so far. */
export class TaskWriter implements SegmentWriter<A2aEvent> {
  readonly #names: { readonly taskId: string; readonly contextId: string };
  readonly #pauses: boolean;
  readonly #artifacts = new Map<string, A2aArtifact>();
  readonly #open = new Map<string, A2aPart>();
  #status: A2aTask['status'] = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(0).toISOString() };
  #failure: string | undefined;
  /** The message that the run answers. */
  question: Message | undefined;
  readonly pause = () => NONE;
  readonly resume = () => NONE;
  readonly pass = () => NONE;

  /** @param pauses Whether its stream ends at a question, whose answer the client has to bring */
  constructor(contextId: string, runId: string, pauses: boolean) {
    this.#names = { taskId: taskId(contextId, runId), contextId };
    this.#pauses = pauses;
  }

  /** The task so far. */
  get task(): A2aTask {
    const { question } = this;
    const { taskId: id, contextId } = this.#names;
    const asked = question && { messageId: question.id, role: 'ROLE_USER', parts: toParts(question.content) };
    return {
      ...{ id, contextId, status: this.#status, artifacts: [...this.#artifacts.values()] },
      history: asked ? [{ ...asked, ...this.#names }] : [],
    };
  }

  asks(): boolean {
    return this.#pauses;
  }

  take(event: GatewayEvent, settled: boolean): readonly A2aEvent[] {
    switch (event.type) {
      case 'message_accepted':
        this.question = event.message;
        return this.#move('TASK_STATE_SUBMITTED', event.ts);
      case 'message_start':
        return this.#move(WORKING, event.ts);
      case 'content_delta':
        return this.#add(`text-${event.index}`, event.delta);
      case 'data':
        return this.#put({
          artifactId: `data-${event.id}`,
          name: event.name,
          parts: [{ data: event.value }],
        });
      case 'message_replaced':
        return this.#replaced(event);
      case 'tool_confirmation_required':
      case 'input_required':
        return settled ? NONE : this.#ask(event);
      case 'tool_confirmation_result':
      case 'input_result':
        this.#open.delete(event.callId);
        return this.#move(this.#open.size > 0 ? ASKING : WORKING, event.ts, [...this.#open.values()]);
      case 'run_error':
        this.#failure = event.message;
        return NONE;
      case 'message_end':
        return this.#end(event);
      default:
        return NONE;
    }
  }

  block(block: UnsaidBlock): readonly A2aEvent[] {
    return this.#put({ artifactId: `file-${this.#artifacts.size}`, parts: toParts([block]) });
  }

  #add(artifactId: string, text: string): A2aEvent[] {
    const former = this.#artifacts.get(artifactId);
    const before = former?.parts[0]?.text ?? '';
    this.#artifacts.set(artifactId, { artifactId, parts: [{ text: `${before}${text}` }] });
    const artifact = { artifactId, parts: [{ text }] };
    return [{ artifactUpdate: { ...this.#names, artifact, append: former !== undefined } }];
  }

  #put(artifact: A2aArtifact): A2aEvent[] {
    this.#artifacts.set(artifact.artifactId, artifact);
    return [{ artifactUpdate: { ...this.#names, artifact, append: false } }];
  }

  /** An artifact that is taken back is told as an empty one, since the protocol has no word for its end. */
  #replaced({ content }: EventOf<'message_replaced'>): A2aEvent[] {
    const texts = content.map((block) => (block.type === 'text' ? block.text : null));
    const data = new Set(content.map((block) => (block.type === 'data' ? `data-${block.id}` : null)));
    return [...this.#artifacts.values()].flatMap((artifact) => {
      const { artifactId, parts } = artifact;
      const isText = artifactId.startsWith('text-');
      if (data.has(artifactId) || !(isText || artifactId.startsWith('data-'))) return [];
      const text = (isText && texts[Number(artifactId.slice('text-'.length))]) || '';
      if (text !== '' && text === parts[0]?.text) return [];
      const told = this.#put({ ...artifact, parts: [{ text }] });
      if (text === '') this.#artifacts.delete(artifactId);
      return told;
    });
  }

  #ask(event: AskingEvent): A2aEvent[] {
    const isInput = event.type === 'input_required';
    const asked = isInput ? pick(event, 'payload', 'schema') : pick(event, 'input', 'message');
    const kind = isInput ? 'input' : 'confirmation';
    this.#open.set(event.callId, { data: { kind, ...pick(event, 'callId', 'name'), ...asked } });
    return this.#move(ASKING, event.ts, [...this.#open.values()]);
  }

  #end({ stopReason, ts }: EventOf<'message_end'>): A2aEvent[] {
    const said = this.#failure ?? failureOf(stopReason)?.message;
    return this.#move(ENDS[stopReason] ?? COMPLETED!, ts, said === undefined ? [] : [{ text: said }]);
  }

  #move(state = '', ts = 0, parts: readonly A2aPart[] = []): A2aEvent[] {
    const message = {
      messageId: `${this.#names.taskId}-${state}`,
      ...this.#names,
      role: 'ROLE_AGENT',
      parts,
    };
    const timestamp = ts > 0 ? new Date(ts).toISOString() : this.#status.timestamp;
    this.#status = { state, timestamp, ...(parts.length > 0 && { message }) };
    return [{ statusUpdate: { ...this.#names, status: this.#status } }];
  }
}
