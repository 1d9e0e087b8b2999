import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { ContentBlock, Message } from '../../shared/messages.js';
import type { AppEvent } from '../apps/application.js';
import { givenId, newCallId } from '../ids.js';
import type { Delta } from '../log/joined-delta.js';
import type { AnswerPlace } from './answer-place.js';
import { type CallBlock, FormerAnswer, type FormerRetraction } from './former-answer.js';
import type { LiveRun } from './live-run.js';

/** The log that an answer is written to. */
interface EventLog {
  /** Logs an event and returns the size of its body. */
  append(draft: EventDraft): number;
  /** Logs a piece of text or reasoning, alone or joined with the next pieces. */
  gather(piece: Delta): void;
}

/** The run of an answer. */
type WrittenRun = Pick<LiveRun, 'id' | 'state'>;

/** Writes the answer of a run, until that has ended: turns the items that the app yields into events, and counts blocks so that each delta names its own. */
export class AnswerWriter {
  readonly #run: WrittenRun;
  readonly #log: EventLog;
  /** Called with the first text or reasoning. */
  #began: (() => void) | null;
  readonly #maxSize: number;
  readonly #parent: AnswerWriter | undefined;
  #size = 0;
  #blocks = 0;
  #open: 'text' | 'reasoning' | null = null;
  /** Characters of the open block. */
  #chars = 0;
  /** The blocks of data by their ids. */
  readonly #data = new Map<string, number>();
  /** Set in a run that was taken up. */
  #former: FormerAnswer | null = null;
  /** Calls of a former process that were taken back in this one, with their results. */
  #lost: readonly CallBlock[] = [];

  /**
   * @param began Called at the first text or reasoning.
   * @param maxSize Longest answer together with those of child runs, in characters. The end of a run carries the whole answer, and readers
   *   bound the size of an event.
   * @param parent The answer for which this one counts too.
   */
  constructor(
    run: WrittenRun,
    log: EventLog,
    {
      began,
      maxSize,
      parent,
    }: {
      readonly began: () => void;
      readonly maxSize: number;
      readonly parent?: AnswerWriter | undefined;
    },
  ) {
    this.#run = run;
    this.#log = log;
    this.#began = began;
    this.#maxSize = maxSize;
    this.#parent = parent;
  }

  /** Continues an answer that a former process began. */
  resume({ content }: Message): void {
    this.add(JSON.stringify(content).length);
    this.#blocks = content.length;
    for (const [at, block] of content.entries()) if (block.type === 'data') this.#data.set(block.id, at);
    if (content.length > 0) this.#former = new FormerAnswer(content);
  }

  /** Has the app say again what a former process took back, which is in no log any more. */
  again(taken: readonly FormerRetraction[]): void {
    for (const each of taken.toReversed())
      this.#former = new FormerAnswer(each.before, { ...each, next: this.#former ?? new FormerAnswer([]) });
  }

  /** Number of blocks so far. */
  get blocks(): number {
    return this.#blocks;
  }

  /** The end of the answer, as far as the app has said it in this process. */
  get place(): AnswerPlace {
    return this.#former?.place ?? { blocks: this.#blocks, chars: this.#chars, open: this.#open };
  }

  /** Goes back to a place, up to which the log has the answer. @returns false if the log has nothing behind it that the app has said, since a former process took it back */
  goBack(place: AnswerPlace): boolean {
    if (this.#former?.isAt(place)) return false;
    const { undone } = this.#former ?? {};
    if (undone && this.#former!.isCutAt(place)) {
      this.#former = undone.next;
      this.#repeat(undone.after);
      return false;
    }
    this.#differ();
    this.#lost = [...this.#lost, ...(this.#former?.callsFrom(place) ?? [])];
    this.#former = null;
    const { blocks, chars, open } = place;
    this.#blocks = blocks;
    this.#chars = chars;
    this.#open = open;
    for (const [id, at] of this.#data) if (at >= blocks) this.#data.delete(id);
    return true;
  }

  /** Passes content that the log has. */
  #repeat(content: readonly ContentBlock[]): void {
    for (const block of content)
      if (block.type === 'text') this.text(block.text);
      else if (block.type === 'reasoning') this.reasoning(block.text);
      else if (block.type === 'data') this.pass(block.id);
      else if ('callId' in block) this.pass(block.callId);
  }

  /** Takes something that the app says. Returns true if that is done with it, since a former process has said it, and taken it back. */
  #undone(say: () => void, isKnown: (former: FormerAnswer) => boolean): boolean {
    const former = this.#former;
    if (!former?.undone) return false;
    former.again.push(say);
    if (!isKnown(former)) this.#differ();
    return true;
  }

  /** The app says something else than what was taken back, so all of it may be new. */
  #differ(): void {
    const former = this.#former;
    if (!former?.undone) return;
    this.#former = former.last;
    for (const say of former.again) say();
  }

  /** The app is done: it does not take back what a former process took back. */
  settle(): void {
    try {
      this.#differ();
    } catch {
      // It no longer fits the answer.
    }
  }

  /** The app makes a call of a former process again, which is not logged again if the answer has it. It may name a data block, too. */
  pass(id: string): void {
    if (this.#run.state === 'ended') return;
    if (
      this.#undone(
        () => this.pass(id),
        (former) => former.pass(id) === undefined,
      )
    )
      return;
    this.#former?.pass(id);
    const lost = this.#lost.filter((block) => block.callId === id);
    this.#lost = this.#lost.filter((block) => block.callId !== id);
    for (const block of lost) this.event({ ...block, runId: this.#run.id, ts: Date.now() });
  }

  text(delta: string): void {
    if (this.#run.state === 'ended') return;
    if (
      this.#undone(
        () => this.text(delta),
        (former) => former.text.take(delta) === '',
      )
    )
      return;
    this.#piece('text', 'content_delta', this.#former ? this.#former.text.take(delta) : delta);
  }

  reasoning(delta: string): void {
    if (this.#run.state === 'ended') return;
    if (
      this.#undone(
        () => this.reasoning(delta),
        (former) => former.reasoning.take(delta) === '',
      )
    )
      return;
    this.#piece('reasoning', 'reasoning_delta', this.#former ? this.#former.reasoning.take(delta) : delta);
  }

  /** The other text that the app says in place of a former process's; null if it says the same. */
  get other(): { readonly before: string; readonly now: string } | null {
    return this.#former?.text.other ?? null;
  }

  /** The id of a data block that the app names anew: that of the same block of a former process, if there is one. */
  idOfData(name: string, value: unknown): string {
    return this.#former?.takeData(name, value) ?? newCallId();
  }

  /** Counts what is in the log, also for the answers of the parents. */
  add(size: number): void {
    this.#size += size;
    this.#parent?.add(size);
  }

  /** @throws GatewayError `PAYLOAD_TOO_LARGE` if this answer, or that of a parent, can't grow so much */
  assertRoom(size: number): void {
    if (this.#size + size > this.#maxSize) {
      throw new GatewayError({
        code: 'PAYLOAD_TOO_LARGE',
        message: `An answer is limited to ${this.#maxSize} characters`,
      });
    }
    this.#parent?.assertRoom(size);
  }

  /** Logs a piece. The first one of a block waits for nothing: it is what a reader waits for. */
  #piece(block: 'text' | 'reasoning', type: Delta['type'], delta: string): void {
    if (delta === '') return;
    this.assertRoom(delta.length);
    this.add(delta.length);
    if (this.#began) {
      this.#began();
      this.#began = null;
    }
    const isFirst = this.#open !== block;
    if (isFirst) {
      this.#open = block;
      this.#chars = 0;
      this.#blocks += 1;
    }
    this.#chars += delta.length;
    const piece = { type, runId: this.#run.id, ts: Date.now(), delta, index: this.#blocks - 1 };
    if (isFirst) this.#log.append(piece);
    else this.#log.gather(piece);
  }

  /** Logs an event that may add a block. */
  event(draft: EventDraft): void {
    if (this.#run.state === 'ended') return;
    const adds = draft.type === 'tool_use' || draft.type === 'tool_result' || draft.type === 'data';
    if (
      adds &&
      this.#undone(
        () => this.event(draft),
        (former) => former.has(draft),
      )
    )
      return;
    if (this.#former?.has(draft)) return;
    // Log first, because that may be refused: a block counts only if it is in the log.
    this.add(this.#log.append(draft));
    this.assertRoom(0);
    if (draft.type === 'tool_use' || draft.type === 'tool_result') this.#block();
    else if (draft.type === 'data' && !this.#data.has(draft.id)) {
      this.#data.set(draft.id, this.#blocks);
      this.#block();
    }
  }

  #block(): void {
    this.#open = null;
    this.#blocks += 1;
  }

  /** Takes one item of an app's output that is part of the answer. @throws GatewayError `INTERNAL` for anything else */
  item(item: string | AppEvent): void {
    if (typeof item === 'string') this.text(item);
    else if (typeof item !== 'object' || item === null) throw unknownItem(item);
    else if (item.type === 'content_delta') this.text(string(item.delta, 'delta'));
    else if (item.type === 'reasoning_delta') this.reasoning(string(item.delta, 'delta'));
    else this.#typed(item);
  }

  #typed(item: AppEvent): void {
    const base = { runId: this.#run.id, ts: Date.now() };
    switch (item.type) {
      case 'tool_use': {
        const { name, input, providerExecuted, runsOn } = item;
        const callId = item.callId === undefined ? newCallId() : givenId(item.callId, 'callId');
        const marks = {
          ...(providerExecuted === true && { providerExecuted }),
          ...(runsOn === 'client' && { runsOn }),
        };
        return this.event({ type: 'tool_use', ...base, callId, name: string(name, 'name'), input, ...marks });
      }
      case 'tool_result': {
        const { callId, name, output = null, isError = false } = item;
        const named = { callId: givenId(callId, 'callId'), name: string(name, 'name') };
        return this.event({ type: 'tool_result', ...base, ...named, output, isError });
      }
      case 'tool_progress': {
        const { callId, value, total, message } = item;
        const optional = { ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
        return this.event({
          type: 'tool_progress',
          ...base,
          callId: givenId(callId, 'callId'),
          value,
          ...optional,
        });
      }
      default:
        throw unknownItem(item);
    }
  }
}

/** @throws GatewayError `INTERNAL` if an app yields anything but a string */
export function string(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  throw new GatewayError({
    code: 'INTERNAL',
    message: `The app yielded an event whose ${field} is not a string`,
  });
}

function unknownItem(item: unknown): GatewayError {
  const what =
    typeof item === 'object' && item !== null
      ? `an event of type ${String((item as AppEvent).type)}`
      : typeof item;
  return new GatewayError({ code: 'INTERNAL', message: `The app yielded ${what}; yield strings or events` });
}
