import { isDeepStrictEqual } from 'node:util';
import type { EventDraft } from '../../shared/events.js';
import type { ContentBlock, ToolResultBlock, ToolUseBlock } from '../../shared/messages.js';
import { type AnswerPlace, endOf, upTo } from './answer-place.js';
import { SaidBefore } from './said-before.js';

/** A call or its result. */
export type CallBlock = ToolUseBlock | ToolResultBlock;

/** A part of an answer that a former process took back: the content just before and after. */
export interface FormerRetraction {
  readonly before: readonly ContentBlock[];
  readonly after: readonly ContentBlock[];
}

/** The answer of a run as a former process left it. The parts that the app of the resumed run says again are not logged again. */
export class FormerAnswer {
  /** Set if the former process took some of it back, and went on. */
  readonly undone: (FormerRetraction & { readonly next: FormerAnswer }) | null;
  /** All that the app has said again of what was taken back. */
  readonly again: (() => void)[] = [];
  readonly text: SaidBefore;
  readonly reasoning: SaidBefore;
  /** The data blocks whose values are still those of the former process, by id. */
  readonly #data = new Map<string, { readonly name: string; readonly value: unknown }>();
  /** The ids of data blocks that the app has not named again. */
  readonly #unnamed: Set<string>;
  /** Calls and results that were not logged again yet. */
  readonly #calls: Set<string>;

  /** The ids of data blocks that the app has not said again. */
  readonly #unsaid: Set<string>;
  readonly #content: readonly ContentBlock[];

  constructor(content: readonly ContentBlock[], undone: FormerAnswer['undone'] = null) {
    this.#content = content;
    this.undone = undone;
    const said = (type: 'text' | 'reasoning'): SaidBefore =>
      new SaidBefore(content.flatMap((block) => (block.type === type ? [block.text] : [])));
    this.text = said('text');
    this.reasoning = said('reasoning');
    for (const block of content) if (block.type === 'data') this.#data.set(block.id, block);
    this.#unnamed = new Set(this.#data.keys());
    this.#unsaid = new Set(this.#data.keys());
    this.#calls = new Set(
      content.flatMap((block) =>
        block.type === 'tool_use' || block.type === 'tool_result' ? [`${block.type} ${block.callId}`] : [],
      ),
    );
  }

  /** The answer in the end. */
  get last(): FormerAnswer {
    return this.undone?.next.last ?? this;
  }

  /** The place up to which the app has said it again; null if that is all of it. */
  get place(): AnswerPlace | null {
    if (this.text.other || this.reasoning.other) return null;
    const left = { text: this.text.said, reasoning: this.reasoning.said };
    for (const [index, block] of this.#content.entries()) {
      if (block.type === 'text' || block.type === 'reasoning') {
        const { type, text } = block;
        const chars = left[type];
        if (chars > 0 && chars < text.length) return { blocks: index + 1, chars, open: type };
        if (chars < text.length) return endOf(this.#content.slice(0, index));
        left[type] -= text.length;
      } else if (block.type === 'data' ? this.#unsaid.has(block.id) : this.#isLeft(block))
        return endOf(this.#content.slice(0, index));
    }
    return this.undone && endOf(this.#content);
  }

  #isLeft(block: ContentBlock): boolean {
    return 'callId' in block && this.#calls.has(`${block.type} ${block.callId}`);
  }

  /** Whether the app has said nothing behind a place, which is one of this answer. */
  isAt(place: AnswerPlace): boolean {
    const now = this.place;
    return now !== null && same(upTo(this.#content, now), upTo(this.#content, place));
  }

  /** Whether the content up to a place is what was left of it. */
  isCutAt(place: AnswerPlace): boolean {
    return this.undone !== null && same(this.undone.after, upTo(this.#content, place));
  }

  /** The calls behind a place, and their results, that the app has not made again. */
  callsFrom({ blocks }: AnswerPlace): readonly CallBlock[] {
    return this.#content.slice(blocks).filter((block): block is CallBlock => this.#isLeft(block));
  }

  /** Notes that the app has made a call again, or has a data block. */
  pass(id: string): void {
    for (const type of ['tool_use', 'tool_result']) this.#calls.delete(`${type} ${id}`);
    this.#unsaid.delete(id);
    this.#unnamed.delete(id);
  }

  /** Whether the answer has what an event would add. */
  has(draft: EventDraft): boolean {
    if (draft.type === 'tool_use' || draft.type === 'tool_result')
      return this.#calls.delete(`${draft.type} ${draft.callId}`);
    if (draft.type !== 'data') return false;
    this.#unsaid.delete(draft.id);
    const kept = this.#data.get(draft.id);
    if (kept && same(kept.value, draft.value)) return true;
    this.#data.delete(draft.id);
    // A value that was taken back later is not said again, whatever it was.
    return (
      this.undone !== null && this.#content.some((block) => block.type === 'data' && block.id === draft.id)
    );
  }

  /** The id of a data block of this name and value. Each is taken once. */
  takeData(name: string, value: unknown): string | undefined {
    for (const id of this.#unnamed) {
      const kept = this.#data.get(id);
      if (kept?.name !== name || !same(kept.value, value)) continue;
      this.#unnamed.delete(id);
      return id;
    }
    return undefined;
  }
}

/** Compares values as JSON, because the former process stored them so. */
export function same(kept: unknown, value: unknown): boolean {
  return isDeepStrictEqual(kept, value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
}
