import { cut } from '../../shared/cut.js';
import type { EventDraft } from '../../shared/events.js';
import type { AppEvent } from '../apps/application.js';
import type { GuardContext, GuardedPart } from '../apps/guard.js';
import { judgeValue } from '../guard/guards.js';
import type { GuardPolicy } from '../guard/policy.js';
import { divided, ripe } from '../guard/window.js';
import type { AnswerWriter } from './answer-writer.js';
import { RunOver } from './run-over.js';

/** Characters that are held before the app has to wait. */
const MOST_HELD = 64 * 1024;

/** Takes what an app says. */
export interface Speech {
  text(delta: string): void;
  item(item: string | AppEvent): void;
  event(draft: EventDraft): void;
}

/** The run before whose log a gate stands. */
export interface GatedRun {
  readonly answer: AnswerWriter;
  readonly about: Pick<GuardContext, 'run' | 'user'>;
  /** Whether nothing is written any more. */
  readonly ended: boolean;
  /** Something was written. */
  used(): void;
  fail(error: unknown): void;
  /** Ends the run as `moderated`. */
  moderated(): void;
}

/** Text of one block that is not written yet. */
interface HeldText {
  readonly kind: 'text' | 'reasoning';
  text: string;
  /** Characters at its beginning that were checked. */
  seen: number;
  /** The time when the first of the others came. */
  since: number;
}

/** Anything else, in its place among the text. */
interface HeldValue {
  readonly kind: GuardedPart | null;
  readonly name: string | undefined;
  readonly value: unknown;
  /** Whether text after it belongs to another block than text before it. */
  readonly closes: boolean;
  write(value: unknown): void;
}

/** A value on its way, by what it is. */
interface GivenValue extends Omit<HeldValue, 'closes' | 'name'> {
  readonly name?: string | undefined;
  readonly closes?: boolean;
}

/**
 * Stands between an app and its log: holds what is to be checked until a verdict, and what comes behind it, so that the order stays. Text that
 * is held when something else ends the run is dropped.
 */
export class SpeechGate implements Speech {
  readonly #policy: GuardPolicy;
  readonly #run: GatedRun;
  #queue: (HeldText | HeldValue)[] = [];
  #working = false;
  /** Whether something has come during the last step. */
  #news = false;
  /** Those who wait until all is written, and those who wait for room. */
  #flushing: (() => void)[] = [];
  #flowing: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #soFar = { text: '', reasoning: '' };
  readonly #data = new Set<string>();
  /** Whether a check has changed or ended anything. */
  touched = false;

  constructor(policy: GuardPolicy, run: GatedRun) {
    this.#policy = policy;
    this.#run = run;
  }

  /** Whether something is held. */
  get holds(): boolean {
    return this.#queue.length > 0;
  }

  /** Whether the app has to wait before it says more. */
  get full(): boolean {
    const chars = this.#queue.reduce((sum, held) => sum + ('text' in held ? held.text.length : 1), 0);
    return chars > MOST_HELD;
  }

  /** The text that was let through. */
  get said(): string {
    return this.#soFar.text;
  }

  /** Whether values of a kind are checked. */
  guards(kind: GuardedPart): boolean {
    return this.#policy.guards(kind);
  }

  text(delta: string): void {
    this.#piece('text', delta);
  }

  item(item: string | AppEvent): void {
    if (typeof item === 'string') return this.#piece('text', item);
    const { answer } = this.#run;
    switch (item?.type) {
      case 'content_delta':
      case 'reasoning_delta':
        if (typeof item.delta !== 'string') return answer.item(item);
        return this.#piece(item.type === 'content_delta' ? 'text' : 'reasoning', item.delta);
      case 'tool_use': {
        const { name, input: value } = item;
        const write = (input: unknown): void => answer.item({ ...item, input });
        return this.put({ kind: 'tool-input', name, value, closes: true, write });
      }
      case 'tool_result': {
        const { name, output: value } = item;
        const write = (output: unknown): void => answer.item({ ...item, output });
        return this.put({ kind: 'tool-output', name, value, closes: true, write });
      }
      case 'tool_progress':
        return this.#progress(item.message, (message) => answer.item({ ...item, ...message }));
      default:
        return answer.item(item);
    }
  }

  event(draft: EventDraft): void {
    const { answer } = this.#run;
    if (draft.type === 'data') {
      const closes = !this.#data.has(draft.id);
      this.#data.add(draft.id);
      const write = (value: unknown): void => answer.event({ ...draft, value });
      this.put({ kind: 'data', name: draft.name, value: draft.value, closes, write });
    } else if (draft.type === 'tool_progress')
      this.#progress(draft.message, (message) => answer.event({ ...draft, ...message }));
    // Inputs and outputs of tools and questions are checked before they are said.
    else this.put({ kind: null, value: undefined, closes: true, write: () => answer.event(draft) });
  }

  #progress(value: string | undefined, say: (message: { readonly message?: string }) => void): void {
    const write = (said: unknown): void => say(said === undefined ? {} : { message: String(said) });
    this.put({ kind: value === undefined ? null : 'data', name: 'progress', value, write });
  }

  /**
   * Has a value checked and written in its place.
   *
   * @throws TypeError if it is no JSON
   */
  put({ kind, name, value: given, closes = false, write }: GivenValue): void {
    if (this.#run.ended) return;
    const checked = kind !== null && this.#policy.guards(kind) ? kind : null;
    if (checked === null && !this.holds) return write(given);
    // The app may change it meanwhile.
    const text = kind === null ? undefined : JSON.stringify(given);
    const value = text === undefined ? given : JSON.parse(text);
    this.#queue.push({ kind: checked, name, value, closes, write });
    this.#go();
  }

  /**
   * Checks a value before something is done with it.
   *
   * @param after Waits until all that is held is written
   * @throws RunOver if the run ends by it
   */
  async checked(kind: GuardedPart, name: string, value: unknown, { after = true } = {}): Promise<unknown> {
    if (after) await this.flushed();
    if (this.#run.ended) throw new RunOver();
    if (!this.#policy.guards(kind)) return value;
    const judged = await judgeValue(this.#policy, value, this.#about(kind, name));
    if (this.#run.ended) throw new RunOver();
    if ('end' in judged) {
      this.#end(judged.end);
      throw new RunOver();
    }
    if (judged.value !== value) this.touched = true;
    return judged.value;
  }

  #about(kind: GuardedPart, name: string | undefined) {
    return { ...this.#run.about, kind, ...(name !== undefined && { name }) };
  }

  /** Resolves once all that is held is written or dropped; undefined if nothing is. */
  flushed(): Promise<void> | undefined {
    if (!this.holds) return undefined;
    const done = new Promise<void>((resolve) => this.#flushing.push(resolve));
    this.#go();
    return done;
  }

  /** Resolves once there is room for more. */
  flowing(): Promise<void> | undefined {
    return this.full ? new Promise((resolve) => this.#flowing.push(resolve)) : undefined;
  }

  /** Drops what is held, because the run is over. */
  close(): void {
    this.#queue = [];
    this.#settle();
  }

  #piece(kind: 'text' | 'reasoning', delta: string): void {
    if (this.#run.ended || delta === '') return;
    if (!this.#policy.guards(kind)) {
      return this.put({ kind: null, value: undefined, closes: true, write: () => this.#say(kind, delta) });
    }
    this.#queue.push({ kind, text: delta, seen: 0, since: performance.now() });
    this.#join();
    this.#go();
  }

  /** Makes one of the last two, if they are text of one block. */
  #join(): void {
    const [former, last] = this.#queue.slice(-2);
    if (!former || !last || !('text' in former && 'text' in last) || former.kind !== last.kind) return;
    if (former.seen === former.text.length) former.since = last.since;
    former.text += last.text;
    this.#queue.pop();
  }

  #go(): void {
    this.#news = true;
    if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    clearTimeout(this.#timer);
    try {
      while (this.#news && !this.#run.ended) {
        this.#news = false;
        while (!this.#run.ended && (await this.#next())) this.#run.used();
      }
    } catch (error) {
      this.#queue = [];
      this.#run.fail(error);
    }
    this.#working = false;
    this.#settle();
  }

  /** Takes one step. Returns false if there is none to take now. */
  async #next(): Promise<boolean> {
    const [first, second] = this.#queue;
    if (!first) return false;
    if (!('text' in first)) return this.#value(first);
    const passes = second && !('text' in second) && !second.closes ? second : null;
    // The end of a text stays held until its block ends, and lets by what does not end it.
    if (passes && first.seen === first.text.length) return this.#value(passes);
    const isOver = this.#flushing.length > 0 || (second !== undefined && !passes);
    const waited = performance.now() - first.since;
    const { window } = this.#policy;
    const upTo = isOver || passes ? first.text.length : ripe(first.text, first.seen, waited, window);
    if (upTo > 0) return this.#window(first, upTo, isOver);
    if (first.text.length > first.seen)
      this.#timer = setTimeout(() => this.#go(), Math.max(1, window.ms - waited)).unref();
    return false;
  }

  /** Checks a held text up to a place, and writes it. @param isOver Whether its block ends behind it */
  async #window(held: HeldText, upTo: number, isOver: boolean): Promise<boolean> {
    const { kind } = held;
    const text = cut(held.text, upTo);
    const soFar = this.#soFar[kind];
    // The end of a text was checked with what is before it.
    const judged =
      held.seen < text.length
        ? await this.#policy.judge(text, { ...this.#about(kind, undefined), kind, soFar })
        : { text };
    if (this.#run.ended) return false;
    if ('end' in judged) return this.#end(judged.end);
    if (judged.text !== text) this.touched = true;
    // More may have come meanwhile.
    const rest = held.text.slice(text.length);
    const [said, kept] = divided(judged.text, isOver && rest === '' ? 0 : this.#policy.window.overlap);
    Object.assign(held, { text: kept + rest, seen: kept.length, since: performance.now() });
    if (held.text === '') this.#drop(held);
    if (said !== '') this.#say(kind, said);
    this.#settle();
    return true;
  }

  async #value(held: HeldValue): Promise<boolean> {
    const { kind, name, value, write } = held;
    const judged = kind === null ? { value } : await judgeValue(this.#policy, value, this.#about(kind, name));
    if (this.#run.ended) return false;
    if ('end' in judged) return this.#end(judged.end);
    if (judged.value !== value) this.touched = true;
    this.#drop(held);
    write(judged.value);
    return true;
  }

  #drop(held: HeldText | HeldValue): void {
    const at = this.#queue.indexOf(held);
    const behind = this.#queue.splice(at).slice(1);
    for (const each of behind) {
      this.#queue.push(each);
      this.#join();
    }
  }

  #say(kind: 'text' | 'reasoning', text: string): void {
    this.#soFar[kind] += text;
    this.#run.answer.item(kind === 'text' ? text : { type: 'reasoning_delta', delta: text });
  }

  /** Says what is shown in place of all that is held, and ends the run. */
  #end(shown: string): false {
    this.touched = true;
    this.#queue = [];
    if (shown !== '') this.#say('text', shown);
    this.#run.moderated();
    return false;
  }

  /** Lets those go on who wait for what has come. */
  #settle(): void {
    if (!this.holds) for (const resolve of this.#flushing.splice(0)) resolve();
    if (this.#flowing.length > 0 && !this.full) for (const resolve of this.#flowing.splice(0)) resolve();
  }
}
