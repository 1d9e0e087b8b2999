import type { AnswerMark } from '../../apps/answer-mark.js';
import type { Turn } from '../../apps/application.js';
import { replyFault } from './fault.js';
import type { AppLine, Slice } from './lines.js';
import type { AppItem } from './outlet.js';
import { SaidAgain } from './said.js';

type PieceLine = Extract<AppLine, { readonly type: 'text' | 'reasoning' }>;
/** A line that adds to the answer, besides its text. */
export type PartLine = Extract<
  AppLine,
  { readonly type: 'data' | 'tool_use' | 'tool_result' | 'usage' | 'title' | 'annotate' }
>;

/** Marks that are kept, to which another text may go back, besides the first. */
const MOST_MARKS = 1000;

/** A place in the answer: how much text and reasoning was said before it, in characters of JavaScript. */
interface SaidPlace {
  readonly text: number;
  readonly reasoning: number;
}

/** A place to which the answer can go back. */
interface MarkedPlace extends SaidPlace {
  /** Number of parts before it. */
  readonly parts: number;
  readonly mark: AnswerMark;
}

/** The answer of a run so far. Each slice says it from the beginning, and only what is new comes out. */
export class Answer {
  readonly #turn: Turn;
  readonly #text = new SaidAgain();
  readonly #reasoning = new SaidAgain();
  /** New text that the run was not given yet. */
  #pending = '';
  /** The parts by what they are of, in JSON, and how many of them the present slice has said. */
  readonly #parts = new Map<string, { readonly said: string[]; at: number }>();
  /** Number of parts in the answer itself. */
  #count = 0;
  /** Those that the present slice has said. */
  #again: (SaidPlace & { readonly item: AppItem })[] = [];
  /** In the order in which they were made. The first is at the beginning. */
  #marks: MarkedPlace[] = [];
  /** Whether there is new text behind the last mark. */
  #hasText = false;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  get said(): Slice['said'] {
    return { text: this.#text.points, reasoning: this.#reasoning.points };
  }

  /** The text of a former process, which the run expects again before anything new. It must have taken each item before the next one is asked for. */
  *again(): Generator<AppItem, void> {
    this.mark();
    const { resumed, rehearsing } = this.#turn;
    // A rehearsal compares what the app itself says.
    if (!resumed || rehearsing) return;
    let isText = true;
    for (const block of resumed.content) {
      if (block.type === 'text') yield this.#text.take(block.text)!;
      else if (block.type === 'reasoning')
        yield { type: 'reasoning_delta', delta: this.#reasoning.take(block.text)! };
      // The run is not behind a part before a slice has said it.
      else isText = false;
      if (isText) this.mark();
    }
  }

  /** Begins a slice. */
  begin(): void {
    this.#text.begin();
    this.#reasoning.begin();
    for (const parts of this.#parts.values()) parts.at = 0;
    this.#again = [];
    this.mark();
  }

  /** Takes text. Returns false for text that is another one than a former slice's, of which nothing is taken. @throws GatewayError `APP_REPLY_INVALID` */
  text({ delta, at }: PieceLine, number: number): boolean {
    if (at !== undefined) moveTo(this.#text, at, number);
    const added = this.#text.take(delta);
    if (added === null) return false;
    this.#pending += added;
    this.#hasText ||= added !== '';
    return true;
  }

  /** Takes reasoning, and returns what is new of it. All before it must have been taken. @throws GatewayError `APP_REPLY_INVALID` */
  reasoning({ delta, at }: PieceLine, number: number): readonly AppItem[] {
    const said = this.#reasoning;
    if (at !== undefined) moveTo(said, at, number);
    if (this.#hasText && said.isAtEnd) this.mark();
    const added = said.take(delta);
    if (added === null) return this.instead({ type: 'reasoning', delta });
    return added === '' ? [] : [{ type: 'reasoning_delta', delta: added }];
  }

  /** Takes what a slice says otherwise than a former one, whose is taken back. All before it must have been taken. Returns what is said in its place. */
  instead({ type, delta }: PieceLine): readonly AppItem[] {
    const { at: text } = this.#text;
    const { at: reasoning } = this.#reasoning;
    this.#marks = this.#marks.filter(
      (mark) => mark.text <= text && mark.reasoning <= reasoning && mark.parts <= this.#again.length,
    );
    const from = this.#marks.at(-1) ?? { text, reasoning, parts: this.#again.length };
    if ('mark' in from) {
      this.#turn.retract(from.mark);
      for (const parts of this.#parts.values()) parts.said.length = parts.at;
    }
    this.#count = this.#again.length;
    const again = { text: this.#text.cut(from.text), reasoning: this.#reasoning.cut(from.reasoning) };
    const items: AppItem[] = [];
    let at: SaidPlace = from;
    const sayUpTo = (to: SaidPlace): void => {
      this.#say(
        'reasoning',
        again.reasoning.slice(at.reasoning - from.reasoning, to.reasoning - from.reasoning),
        items,
      );
      this.#say('text', again.text.slice(at.text - from.text, to.text - from.text), items);
      at = to;
    };
    for (const part of this.#again.slice(from.parts)) {
      sayUpTo(part);
      items.push(part.item);
    }
    sayUpTo({ text, reasoning });
    this.#say(type, delta, items);
    this.#hasText = true;
    return items;
  }

  #say(type: PieceLine['type'], text: string, items: AppItem[]): void {
    if (text === '') return;
    const delta = (type === 'text' ? this.#text : this.#reasoning).take(text)!;
    items.push(type === 'text' ? delta : { type: 'reasoning_delta', delta });
  }

  /** New text that the run was not given yet. */
  flushed(): string {
    const text = this.#pending;
    this.#pending = '';
    return text;
  }

  /** Takes a part. Returns whether it is new. */
  isNew(line: PartLine): boolean {
    const key = keyOf(line);
    const parts = this.#parts.get(key) ?? { said: [], at: 0 };
    this.#parts.set(key, parts);
    const item = itemOf(line);
    if (item) this.#again.push({ item, text: this.#text.at, reasoning: this.#reasoning.at });
    const now = JSON.stringify(line);
    if (parts.said[parts.at] === now) {
      parts.at += 1;
      return false;
    }
    parts.said.length = parts.at;
    parts.said.push(now);
    parts.at += 1;
    if (item) this.#count += 1;
    return true;
  }

  /** Marks the end of the answer, to which a later slice goes back if it says another text behind it. */
  mark(): void {
    if (this.#pending !== '' || this.#turn.rehearsing) return;
    const { length: text } = this.#text;
    const { length: reasoning } = this.#reasoning;
    this.#hasText = false;
    this.#marks.push({ text, reasoning, parts: this.#count, mark: this.#turn.mark() });
    if (this.#marks.length > MOST_MARKS) this.#marks.splice(1, 1);
  }
}

/** A part as the run takes it; null for what is not in the answer itself. */
export function itemOf(line: PartLine): AppItem | null {
  if (line.type === 'tool_result') return { ...line, isError: line.isError ?? false };
  return line.type === 'data' || line.type === 'tool_use' ? line : null;
}

function moveTo(said: SaidAgain, at: number, number: number): void {
  if (!said.moveTo(at))
    throw replyFault(number, 'at', `must be at most ${said.points}, which is what was said`);
}

function keyOf(line: PartLine): string {
  const { type } = line;
  if (type === 'data' || type === 'usage') return `${type} ${line.id}`;
  return type === 'tool_use' || type === 'tool_result' ? `${type} ${line.callId}` : type;
}
