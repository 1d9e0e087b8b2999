import type { Compaction } from '../../shared/compaction/contract.js';
import type { ActiveRun, PendingQuestion, QueuedMessage, SessionState } from '../../shared/fold.js';
import type { GrantRole, HiddenPart } from '../../shared/grants.js';
import { isAtLeast } from '../../shared/grants.js';
import type { ContentBlock, LanePlace, Message, Outcome } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';

type ShownFields = Readonly<Record<string, unknown>>;

/** A copy of an object without some fields. */
function without(fields: ShownFields, ...names: readonly string[]): ShownFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** The parts of content that a summary may repeat. */
const IN_SUMMARIES: readonly HiddenPart[] = ['reasoning', 'toolInput', 'toolOutput', 'data', 'metadata'];

/** Events that carry one message. */
const MESSAGE: ReadonlySet<string> = new Set([
  'message_accepted',
  'message_end',
  'run_spawned',
  'run_steered',
]);

/** The part of a session that a grant shows, in its events, state, history and results alike. */
export class View {
  readonly #hides: ReadonlySet<HiddenPart>;
  readonly #manages: boolean;

  constructor(hide: readonly HiddenPart[], role: GrantRole) {
    this.#hides = new Set(hide);
    this.#manages = isAtLeast(role, 'operator');
  }

  /** Whether shown events may lose fields. */
  get changes(): boolean {
    return this.#hides.size > 0;
  }

  hides(part: HiddenPart): boolean {
    return this.#hides.has(part);
  }

  /** Whether events of a type are hidden entirely. Reasoning is not: an empty block keeps its place. */
  hidesType(type: string): boolean {
    if (type === 'grant_added' || type === 'grant_removed') return !this.#manages;
    if (type === 'usage_added') return this.hides('usage');
    if (type === 'variant') return this.hides('metadata');
    return type === 'tool_progress' && this.hides('toolOutput');
  }

  /** The shown part of an event's data; the same object if nothing is hidden. */
  event(type: string, data: ShownFields): ShownFields {
    let shown = data;
    const change = (fields: ShownFields): void => {
      shown = { ...shown, ...fields };
    };
    const drop = (...names: readonly string[]): void => {
      if (names.some((name) => name in shown)) shown = without(shown, ...names);
    };
    if (type === 'tool_use' && this.hides('toolInput')) change({ input: null });
    if (type === 'tool_confirmation_required' && this.hides('toolInput')) {
      change({ input: null });
      drop('message');
      if (shown.policy) change({ policy: { ...(shown.policy as object), inputHash: '' } });
    }
    if (type === 'tool_confirmation_result' && this.hides('toolInput')) drop('input');
    // A client tool's call is a question too, so its input is in the payload.
    if (type === 'input_required' && this.hides('toolInput')) drop('payload');
    if ((type === 'tool_result' || type === 'input_result') && this.hides('toolOutput'))
      change({ output: null });
    if (type === 'data' && this.hides('data')) change({ value: null });
    if (/^(message_accepted|run_spawned|session_updated)$/.test(type) && this.hides('metadata'))
      drop('metadata');
    if (type === 'message_end' && this.hides('usage')) drop('usage', 'totalUsage');
    if (type === 'compacted') shown = this.#summary(shown as unknown as Compaction) as unknown as ShownFields;
    for (const name of ['messages', 'preceding'])
      if (shown[name]) change({ [name]: (shown[name] as readonly Message[]).map(this.message) });
    if (type === 'message_replaced')
      change({ content: (shown.content as readonly ContentBlock[]).map(this.#block) });
    if (MESSAGE.has(type)) change({ message: this.message(shown.message as Message) });
    return shown;
  }

  /** The shown part of a summary, or of its event. It may tell of everything that a grant can hide in content. */
  #summary<S extends Pick<Compaction, 'summary' | 'usage'>>(given: S): S {
    const { usage, ...others } = given;
    const hidden = IN_SUMMARIES.some((part) => this.hides(part));
    return {
      ...others,
      ...(hidden && { summary: '' }),
      ...(usage && !this.hides('usage') && { usage }),
    } as S;
  }

  /** The shown part of a message. */
  readonly message = <M extends Message>(message: M): M => {
    const { children, compaction } = message;
    let shown: Message = {
      ...message,
      content: message.content.map(this.#block),
      ...(children && { children: children.map((child) => this.#run(child)) }),
      ...(compaction && { compaction: this.#summary(compaction) }),
    };
    if (this.hides('usage'))
      shown = without(shown as unknown as ShownFields, 'usage', 'totalUsage') as unknown as Message;
    if (this.hides('metadata'))
      shown = without(shown as unknown as ShownFields, 'metadata', 'variants') as unknown as Message;
    return shown as M;
  };

  // A hidden block leaves an empty one, because later blocks are known by their index.
  readonly #block = (block: ContentBlock): ContentBlock => {
    if (!block) return block;
    if (block.type === 'reasoning' && this.hides('reasoning')) return { type: 'reasoning', text: '' };
    if (block.type === 'tool_use' && this.hides('toolInput')) return { ...block, input: null };
    if (block.type === 'tool_result' && this.hides('toolOutput')) return { ...block, output: null };
    if (block.type === 'data' && this.hides('data')) return { ...block, value: null };
    return block;
  };

  /** The shown part of a session's state. */
  state(state: SessionState): SessionState {
    const { messages, run, lanes, pending, queue, metadata, variants, ...others } = state;
    return {
      ...others,
      messages: messages.map(this.message),
      run: run && this.#run(run),
      ...(lanes && { lanes: lanes.map((lane) => this.#run(lane)) }),
      pending: pending.map((question) => this.#question(question)),
      queue: queue.map((queued) => this.#queued(queued)),
      ...(metadata && !this.hides('metadata') && { metadata }),
      ...(variants && !this.hides('metadata') && { variants }),
    };
  }

  #run<Run extends ActiveRun & Partial<LanePlace & Pick<Outcome, 'totalUsage'>>>(run: Run): Run {
    const { message, usage, totalUsage, progress, asked, steering, ...others } = run;
    return {
      ...others,
      message: this.message(message),
      ...(asked && { asked: this.message(asked) }),
      ...(steering && { steering: steering.map(this.message) }),
      ...(!this.hides('usage') && { ...(usage && { usage }), ...(totalUsage && { totalUsage }) }),
      ...(progress && !this.hides('toolOutput') && { progress }),
    } as unknown as Run;
  }

  #question(question: PendingQuestion): PendingQuestion {
    if (!this.hides('toolInput')) return question;
    const { input: _, message: __, policy, ...others } = question;
    return {
      ...others,
      ...(others.kind === 'confirmation' && { input: null }),
      ...(policy && { policy: { ...policy, inputHash: '' } }),
    };
  }

  #queued(queued: QueuedMessage): QueuedMessage {
    const { message, preceding, ...others } = queued;
    return {
      ...others,
      message: this.message(message),
      ...(preceding && { preceding: preceding.map(this.message) }),
    };
  }

  /** The shown part of a run's result. */
  result(result: RunResult): RunResult {
    const { message, usage, totalUsage, ...others } = result;
    const used = { ...(usage && { usage }), ...(totalUsage && { totalUsage }) };
    return { ...others, message: this.message(message), ...(!this.hides('usage') && used) };
  }
}
