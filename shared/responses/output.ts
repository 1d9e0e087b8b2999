import type { ContentBlock } from '../messages.js';
import { type IdentifiedRun, itemId } from './ids.js';
import { messageItem, reasoningItem, textPart } from './items.js';
import type { ResponseEventFrame, ResponseItem } from './types.js';

interface OpenItem {
  readonly kind: 'text' | 'reasoning';
  /** The block's index in the answer. */
  readonly index: number;
  readonly id: string;
  readonly output_index: number;
  text: string;
}

/** The output of one response after the other, and the frames that tell it. */
export class ResponseOutput {
  readonly #run: IdentifiedRun;
  /** The segment in which the item of a block began. */
  readonly #begun = new Map<number, number>();
  #segment = 0;
  #sequence = 0;
  #items: (ResponseItem | null)[] = [];
  /** The blocks of the items that have one, by their places. */
  #blocks = new Map<number, OpenItem>();
  #open: OpenItem | null = null;
  readonly #retracted = new Set<number>();

  constructor(run: IdentifiedRun) {
    this.#run = run;
  }

  /** The items so far; an open one with the text so far. */
  get items(): ResponseItem[] {
    const open = this.#open;
    const isTold = (at: number): boolean => !this.#retracted.has(at);
    return this.#items.flatMap((item, at) =>
      isTold(at) ? (item ?? (open ? [itemOf(open, 'in_progress')] : [])) : [],
    );
  }

  /** Begins the output of the next response. */
  next(): void {
    this.#segment += 1;
    this.#sequence = 0;
    this.#items = [];
    this.#blocks = new Map();
    this.#retracted.clear();
  }

  frame(type: string, rest: object): ResponseEventFrame {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return { type, sequence_number, ...rest };
  }

  /** A piece of a block. */
  delta(
    kind: OpenItem['kind'],
    { index, delta }: { readonly index: number; readonly delta: string },
  ): ResponseEventFrame[] {
    const isOpen = this.#open?.kind === kind && this.#open.index === index;
    const before = isOpen ? [] : this.#begin(kind, index);
    const open = this.#open!;
    open.text += delta;
    if (kind === 'reasoning')
      return [...before, this.frame('response.reasoning_summary_text.delta', { delta, ...placeOf(open) })];
    return [...before, this.frame('response.output_text.delta', { delta, logprobs: [], ...placeOf(open) })];
  }

  #begin(kind: OpenItem['kind'], index: number): ResponseEventFrame[] {
    const before = this.close();
    const first = this.#begun.get(index) ?? this.#segment;
    this.#begun.set(index, first);
    // A block that continues after a question is a new item of the next response.
    const times = [...this.#blocks.values()].filter((each) => each.index === index).length;
    const name = first === this.#segment ? index : `${index}.${this.#segment}`;
    // A block that was taken back, in part or whole, begins anew.
    const part = times === 0 ? name : `${name}-${times}`;
    const id = itemId(kind === 'text' ? 'msg' : 'rs', this.#run, part);
    const output_index = this.#items.push(null) - 1;
    const open: OpenItem = { kind, index, id, output_index, text: '' };
    this.#open = open;
    this.#blocks.set(output_index, open);
    const place = placeOf(open);
    const [item, added, empty] =
      kind === 'text'
        ? [
            { ...messageItem(id, '', 'in_progress'), content: [] },
            'response.content_part.added',
            textPart(''),
          ]
        : [reasoningItem(id), 'response.reasoning_summary_part.added', summaryPart('')];
    return [
      ...before,
      this.frame('response.output_item.added', { output_index, item }),
      this.frame(added, { ...place, part: empty }),
    ];
  }

  /** Ends the block that is being written, if one is. */
  close(): ResponseEventFrame[] {
    const open = this.#open;
    if (!open) return [];
    this.#open = null;
    const { kind, text, output_index } = open;
    const place = placeOf(open);
    const item = itemOf(open, 'completed');
    this.#items[output_index] = item;
    const frames =
      kind === 'text'
        ? [
            this.frame('response.output_text.done', { ...place, text, logprobs: [] }),
            this.frame('response.content_part.done', { ...place, part: textPart(text) }),
          ]
        : [
            this.frame('response.reasoning_summary_text.done', { ...place, text }),
            this.frame('response.reasoning_summary_part.done', { ...place, part: summaryPart(text) }),
          ];
    return [...frames, this.frame('response.output_item.done', { output_index, item })];
  }

  /** Takes text back: its items are in no later list of the output. The API has no word for it within a stream. */
  retract(content: readonly ContentBlock[]): ResponseEventFrame[] {
    const frames = this.close();
    for (const [at, block] of this.#blocks) {
      if (this.#retracted.has(at)) continue;
      const left = content[block.index];
      const text = left?.type === block.kind ? left.text : '';
      if (text === '') this.#retracted.add(at);
      else this.#items[at] = itemOf({ ...block, text }, 'completed');
    }
    return frames;
  }

  /** An item that is told in one go: its first form, its last form, and the events between. */
  whole(
    first: ResponseItem,
    item: ResponseItem,
    between: readonly (readonly [type: string, fields?: object])[] = [],
  ): ResponseEventFrame[] {
    const before = this.close();
    const output_index = this.#items.push(item) - 1;
    return [
      ...before,
      this.frame('response.output_item.added', { output_index, item: first }),
      ...between.map(([type, fields]) => this.frame(type, { item_id: item.id, output_index, ...fields })),
      this.frame('response.output_item.done', { output_index, item }),
    ];
  }
}

function placeOf({ kind, id, output_index }: OpenItem): object {
  return { item_id: id, output_index, ...(kind === 'text' ? { content_index: 0 } : { summary_index: 0 }) };
}

function itemOf({ kind, text, id }: OpenItem, status: string): ResponseItem {
  return kind === 'text' ? messageItem(id, text, status) : reasoningItem(id, text);
}

function summaryPart(text: string): object {
  return { type: 'summary_text', text };
}
