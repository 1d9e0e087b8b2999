import { isDeepStrictEqual } from 'node:util';
import type { Message, ToolUseBlock } from '../../../shared/messages.js';
import { Unsaid } from '../unsaid.js';
import type { BegunAnswer } from './durable-model.js';

/** The parts of a resumed answer that a former process has sent to clients. None of them is sent again. */
export class FormerAnswer {
  /** Content sent from answers of the model that are not read again yet. */
  #left = { text: '', reasoning: '' };
  readonly #calls: Set<ToolUseBlock>;
  readonly #results: ReadonlySet<string>;
  #answer: BegunAnswer | undefined;
  #unsaid = { text: new Unsaid(''), reasoning: new Unsaid('') };
  #told = { text: 0, reasoning: 0 };

  constructor(resumed: Pick<Message, 'content'> | null) {
    const content = resumed?.content ?? [];
    for (const block of content)
      if (block.type === 'text' || block.type === 'reasoning') this.#left[block.type] += block.text;
    this.#calls = new Set(content.filter((block) => block.type === 'tool_use'));
    this.#results = new Set(content.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])));
  }

  /** Whether all of the present answer was sent. */
  get toldAll(): boolean {
    return this.#answer?.before === 'all';
  }

  /** Begins an answer of the model. */
  begin(answer: BegunAnswer | undefined): void {
    this.#answer = answer;
    const { text, reasoning } = answer?.before === 'some' ? this.#left : { text: '', reasoning: '' };
    this.#unsaid = { text: new Unsaid(text), reasoning: new Unsaid(reasoning) };
    this.#told = answer?.told ?? { text: text.length, reasoning: reasoning.length };
    answer?.read(0, this.#told);
  }

  /** The part of a piece that clients have not received. */
  take(kind: 'text' | 'reasoning', delta: string): string {
    if (this.toldAll) return '';
    const rest = this.#unsaid[kind].take(delta);
    this.#told = { ...this.#told, [kind]: this.#told[kind] + rest.length };
    return rest;
  }

  /** Notes that a piece was read, and sent as far as needed. */
  took(length: number): void {
    this.#answer?.read(length, this.#told);
  }

  /** Ends the answer and the calls that followed from it. */
  end(): void {
    const { text, reasoning } = this.#told;
    this.#left = { text: this.#left.text.slice(text), reasoning: this.#left.reasoning.slice(reasoning) };
    this.#answer?.end(this.#told);
    this.#answer = undefined;
  }

  /** Takes the id under which a call was sent. Each is taken once. */
  takeCall(name: string, input: unknown): string | undefined {
    const wanted: unknown = JSON.parse(JSON.stringify(input ?? null));
    for (const call of this.#calls) {
      if (call.name !== name || !isDeepStrictEqual(call.input, wanted)) continue;
      this.#calls.delete(call);
      return call.callId;
    }
    return undefined;
  }

  hasResult(callId: string): boolean {
    return this.#results.has(callId);
  }
}
