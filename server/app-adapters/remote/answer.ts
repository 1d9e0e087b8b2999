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

/** Marks that are kept, to which another text may go back. */
const MOST_MARKS = 32;

/** The answer of a run so far. Each slice says it from the beginning, and only what is new comes out. */
export class Answer {
  readonly #turn: Turn;
  readonly #text = new SaidAgain();
  readonly #reasoning = new SaidAgain();
  /** New text that the run was not given yet. */
  #pending = '';
  /** The parts by what they are of, in JSON, and how many of them the present slice has said. */
  readonly #parts = new Map<string, { readonly said: string[]; at: number }>();
  #marks: { readonly at: number; readonly mark: AnswerMark }[] = [];

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  get said(): Slice['said'] {
    return { text: this.#text.points, reasoning: this.#reasoning.points };
  }

  /** The text of a former process, which the run expects again before anything new. */
  *again(): Generator<AppItem, void> {
    const { resumed, rehearsing } = this.#turn;
    // A rehearsal compares what the app itself says.
    if (!resumed || rehearsing) return;
    for (const block of resumed.content) {
      if (block.type === 'text') yield this.#text.take(block.text)!;
      if (block.type === 'reasoning')
        yield { type: 'reasoning_delta', delta: this.#reasoning.take(block.text)! };
    }
  }

  /** Begins a slice. */
  begin(): void {
    this.#text.begin();
    this.#reasoning.begin();
    for (const parts of this.#parts.values()) parts.at = 0;
    this.mark();
  }

  /** Takes text. Returns false for text that is another one than a former slice's, of which nothing is taken. @throws GatewayError `APP_REPLY_INVALID` */
  text({ delta, at }: PieceLine, number: number): boolean {
    if (at !== undefined) moveTo(this.#text, at, number);
    const added = this.#text.take(delta);
    if (added === null) return false;
    this.#pending += added;
    return true;
  }

  /** Takes text that is another one than a former slice's, which is taken back. All before it must have been taken. */
  instead({ delta }: PieceLine): void {
    const { at } = this.#text;
    this.#marks = this.#marks.filter((mark) => mark.at <= at);
    const last = this.#marks.at(-1);
    if (last) {
      this.#turn.retract(last.mark);
      for (const parts of this.#parts.values()) parts.said.length = parts.at;
    }
    const again = this.#text.cut(last?.at ?? at);
    this.#pending = this.#text.take(again + delta)!;
  }

  /** Takes reasoning, and returns the new part of it. @throws GatewayError `APP_REPLY_INVALID` */
  reasoning({ delta, at }: PieceLine, number: number): string {
    const said = this.#reasoning;
    if (at !== undefined) moveTo(said, at, number);
    const added = said.take(delta);
    if (added !== null) return added;
    said.cut(said.at);
    return said.take(delta)!;
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
    const now = JSON.stringify(line);
    if (parts.said[parts.at] === now) {
      parts.at += 1;
      return false;
    }
    parts.said.length = parts.at;
    parts.said.push(now);
    parts.at += 1;
    return true;
  }

  /** Marks the end of the answer, to which a later slice goes back if it says another text behind it. */
  mark(): void {
    const { length: at } = this.#text;
    if (this.#pending !== '' || this.#turn.rehearsing) return;
    this.#marks.push({ at, mark: this.#turn.mark() });
    if (this.#marks.length > MOST_MARKS) this.#marks.shift();
  }
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
