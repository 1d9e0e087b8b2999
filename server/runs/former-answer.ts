import { isDeepStrictEqual } from 'node:util';
import type { EventDraft } from '../../shared/events.js';
import type { ContentBlock } from '../../shared/messages.js';
import { type AnswerPlace, placeAt } from './answer-place.js';
import { SaidBefore } from './said-before.js';

/** The answer of a run as a former process left it. The parts that the app of the resumed run says again are not logged again. */
export class FormerAnswer {
  readonly text: SaidBefore;
  readonly reasoning: SaidBefore;
  /** The data blocks whose values are still those of the former process, by id. */
  readonly #data = new Map<string, { readonly name: string; readonly value: unknown }>();
  /** The ids of data blocks that the app has not named again. */
  readonly #unnamed: Set<string>;
  /** Calls and results that were not logged again yet. */
  readonly #calls: Set<string>;

  readonly #content: readonly ContentBlock[];

  constructor(content: readonly ContentBlock[]) {
    this.#content = content;
    const said = (type: 'text' | 'reasoning'): SaidBefore =>
      new SaidBefore(content.flatMap((block) => (block.type === type ? [block.text] : [])));
    this.text = said('text');
    this.reasoning = said('reasoning');
    for (const block of content) if (block.type === 'data') this.#data.set(block.id, block);
    this.#unnamed = new Set(this.#data.keys());
    this.#calls = new Set(
      content.flatMap((block) =>
        block.type === 'tool_use' || block.type === 'tool_result' ? [`${block.type} ${block.callId}`] : [],
      ),
    );
  }

  /** The place up to which the app has said it again; null if that is all of it. */
  get place(): AnswerPlace | null {
    if (this.text.other) return null;
    let left = this.text.said;
    for (const [index, block] of this.#content.entries()) {
      if (block.type === 'text') {
        if (left < block.text.length)
          return left === 0 ? placeAt(index) : { blocks: index + 1, chars: left, open: 'text' };
        left -= block.text.length;
      } else if ('callId' in block && this.#calls.has(`${block.type} ${block.callId}`)) return placeAt(index);
    }
    return null;
  }

  /** Whether the answer has what an event would add. */
  has(draft: EventDraft): boolean {
    if (draft.type === 'tool_use' || draft.type === 'tool_result')
      return this.#calls.delete(`${draft.type} ${draft.callId}`);
    if (draft.type !== 'data') return false;
    const kept = this.#data.get(draft.id);
    if (kept && same(kept.value, draft.value)) return true;
    this.#data.delete(draft.id);
    return false;
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
