import type { Turn, UsedCall } from '../../apps/application.js';
import { type Answer, itemOf, type PartLine } from './answer.js';
import { replyFault } from './fault.js';
import type { RunJournal } from './journal.js';
import { LineReader, type ReplyBounds } from './line-reader.js';
import type { AppLine } from './lines.js';
import type { AppItem, RunOutlet } from './outlet.js';

/** The last line of a reply. */
export type LastLine = Extract<AppLine, { readonly type: 'continue' | 'wait' | 'end' | 'error' }>;

const LAST: ReadonlySet<string> = new Set(['continue', 'wait', 'end', 'error']);
const isLast = (line: AppLine): line is LastLine => LAST.has(line.type);

/** The parts of a run that a slice adds to. */
export interface SliceParts {
  readonly turn: Turn;
  readonly journal: RunJournal;
  readonly answer: Answer;
  readonly outlet: RunOutlet;
  readonly bounds: ReplyBounds;
}

/** Reads the reply to one slice. Only what is new goes on. */
export class SliceReader {
  readonly #parts: SliceParts;
  readonly #reader: LineReader;
  /** Called once, with the last line or the fault. */
  readonly #over: (last: LastLine | null, error: unknown) => void;
  /** Whether the reply said anything new. */
  isNew = false;

  constructor(parts: SliceParts, over: (last: LastLine | null, error: unknown) => void) {
    this.#parts = parts;
    this.#reader = new LineReader(parts.bounds);
    this.#over = over;
  }

  /** Whether the reply ended within a line. */
  get isWithin(): boolean {
    return this.#reader.isWithin;
  }

  /** Takes a piece of the reply. Returns a promise while the run is to take what came before. */
  take(piece: Buffer): Promise<void> | undefined {
    const lines = this.#reader.read(piece);
    try {
      return this.#lines(lines, null);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown): void {
    // The text before a fault stays.
    this.#flush();
    this.#over(null, error);
  }

  #lines(lines: Iterator<AppLine>, before: LastLine | null): Promise<void> | undefined {
    const { answer, journal } = this.#parts;
    let last = before;
    for (let next = lines.next(); !next.done; next = lines.next()) {
      const line = next.value;
      if (last) throw this.#behind(last, this.#reader.line);
      if (line.type === 'text' && journal.isStored && answer.text(line, this.#reader.line)) continue;
      if (isLast(line)) last = line;
      else return this.#later(line, lines);
    }
    this.#flush();
    if (!last) return this.#parts.outlet.full;
    if (this.#reader.isWithin) throw this.#behind(last, this.#reader.line + 1);
    if (last.type === 'wait' && !this.#parts.journal.waits)
      throw replyFault(this.#reader.line, 'type', 'must be continue: no call and no sleep is open');
    this.#over(last, null);
    return undefined;
  }

  #behind({ type }: LastLine, line: number): Error {
    return replyFault(line, 'type', `comes after ${type}, which is the last line`);
  }

  /** Goes on with a line that does more than to say text, once the run has taken the text before it. */
  async #later(line: Exclude<AppLine, LastLine>, lines: Iterator<AppLine>): Promise<void> {
    try {
      this.#flush();
      await this.#parts.outlet.drained();
      // Nobody is told anything that follows from an outcome before the store has it.
      if (line.type !== 'step') await this.#parts.journal.stored();
      await this.#do(line);
      await this.#lines(lines, null);
    } catch (error) {
      this.#fail(error);
    }
  }

  #flush(): void {
    const text = this.#parts.answer.flushed();
    if (text === '') return;
    this.isNew = true;
    this.#parts.outlet.put(text);
  }

  #do(line: Exclude<AppLine, LastLine>): Promise<void> | undefined {
    const { answer, journal } = this.#parts;
    const number = this.#reader.line;
    switch (line.type) {
      case 'text':
        return answer.text(line, number) ? undefined : this.#put(answer.instead(line));
      case 'reasoning':
        return this.#put(answer.reasoning(line, number));
      case 'step':
      case 'sleep':
      case 'ask':
      case 'confirm':
      case 'tool':
      case 'spawn':
        if (!journal.take(line, number)) return undefined;
        this.isNew = true;
        return void answer.mark();
      default:
        if (!answer.isNew(line)) return undefined;
        this.isNew = true;
        return this.#part(line);
    }
  }

  #put(items: readonly AppItem[]): undefined {
    if (items.length > 0) this.isNew = true;
    for (const item of items) this.#parts.outlet.put(item);
  }

  async #part(line: PartLine): Promise<void> {
    const { turn, answer, outlet } = this.#parts;
    if (line.type === 'title') turn.title(line.text);
    else if (line.type === 'annotate') turn.annotate(line.metadata);
    else if (line.type === 'usage') {
      const { type: _type, ...used } = line;
      await turn.usage(used as UsedCall);
    } else {
      outlet.put(itemOf(line)!);
      await outlet.drained();
    }
    answer.mark();
  }
}
