import { randomUUID } from 'node:crypto';
import type { MessageInput, Usage } from '../../../shared/messages.js';
import type { ChatUsage } from '../../chat-format/chat-types.js';
import { toChatUsage } from '../../chat-format/to-chat.js';
import type { AnswerEnd, AnswerPart } from './chat-run.js';

/** Token counts of an answer; `estimated` if words were counted instead. */
export type AnswerUsage = ChatUsage & { readonly estimated?: true };

type CalledPart = Extract<AnswerPart, { type: 'call' }>['call'];

/** Writes one answer in the vendor's shapes, whole or in chunks. */
export class ChatAnswer {
  readonly #id = `chatcmpl-${randomUUID().replaceAll('-', '')}`;
  readonly #created = Math.floor(Date.now() / 1000);
  readonly #model: string;
  readonly #prompt: readonly MessageInput[];
  readonly #withUsage: boolean;
  readonly #calls: CalledPart[] = [];
  readonly #words = { text: new WordCounter(), reasoning: new WordCounter() };
  #text = '';
  #reasoning = '';

  /** @param withUsage Whether the chunks end with token counts */
  constructor(
    model: string,
    prompt: readonly MessageInput[],
    { withUsage }: { readonly withUsage: boolean },
  ) {
    this.#model = model;
    this.#prompt = prompt;
    this.#withUsage = withUsage;
  }

  /** Adds a part to the whole answer. */
  add(part: AnswerPart): void {
    this.#count(part);
    if (part.type === 'text') this.#text += part.delta;
    else if (part.type === 'reasoning') this.#reasoning += part.delta;
    else if (part.type === 'again') this.#text = part.text;
  }

  #count(part: AnswerPart): void {
    if (part.type === 'call') this.#calls.push(part.call);
    else if (part.type !== 'again') this.#words[part.type].add(part.delta);
  }

  /** The first chunk of a stream. */
  firstChunk(): unknown {
    return this.#chunk({ role: 'assistant', content: '', refusal: null }, null);
  }

  /** The chunk of a part. Nothing is added to the whole answer. */
  chunk(part: AnswerPart): unknown {
    this.#count(part);
    if (part.type === 'text') return this.#chunk({ content: part.delta }, null);
    // Not the vendor's own field, but the one that other servers stream reasoning in, and that their clients read.
    if (part.type === 'reasoning') return this.#chunk({ reasoning_content: part.delta }, null);
    // A stream can take nothing back, so the new text is set apart from the old one.
    if (part.type === 'again') return this.#chunk({ content: '\n\n' }, null);
    return this.#chunk({ tool_calls: [{ index: this.#calls.length - 1, ...part.call }] }, null);
  }

  /** The last chunks of a stream. */
  lastChunks({ finishReason, usage }: AnswerEnd): readonly unknown[] {
    const last = this.#chunk({}, finishReason);
    if (!this.#withUsage) return [last];
    return [last, this.#named('chat.completion.chunk', { choices: [], usage: this.#usage(usage) })];
  }

  /** The whole answer. */
  completion({ finishReason, usage }: AnswerEnd): unknown {
    const called = this.#calls.length > 0;
    const message = {
      role: 'assistant',
      content: this.#text === '' && called ? null : this.#text,
      refusal: null,
      annotations: [],
      ...(this.#reasoning !== '' && { reasoning_content: this.#reasoning }),
      ...(called && { tool_calls: this.#calls }),
    };
    return this.#named('chat.completion', {
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
      usage: this.#usage(usage),
    });
  }

  #chunk(delta: object, finishReason: AnswerEnd['finishReason'] | null): unknown {
    return this.#named('chat.completion.chunk', {
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(this.#withUsage && { usage: null }),
    });
  }

  #named(object: string, said: object): object {
    return { id: this.#id, object, created: this.#created, model: this.#model, ...said };
  }

  #usage(reported: Usage | undefined): AnswerUsage {
    const usage = toChatUsage(reported);
    if (usage) return usage;
    const prompt_tokens = this.#prompt.reduce((sum, { content }) => sum + wordsIn(content), 0);
    const { text, reasoning } = this.#words;
    const completion_tokens = this.#calls.reduce(
      (sum, call) => sum + countWords(call.type === 'custom' ? call.custom.input : call.function.arguments),
      text.count + reasoning.count,
    );
    const total_tokens = prompt_tokens + completion_tokens;
    return { prompt_tokens, completion_tokens, total_tokens, estimated: true };
  }
}

function wordsIn(content: MessageInput['content']): number {
  if (typeof content === 'string') return countWords(content);
  return content.reduce((sum, block) => {
    if (block.type === 'text') return sum + countWords(block.text);
    if (block.type === 'tool_use') return sum + countWords(JSON.stringify(block.input) ?? '');
    return block.type === 'tool_result' ? sum + countWords(String(block.output)) : sum;
  }, 0);
}

/** Counts the words of a text that comes in pieces. */
class WordCounter {
  count = 0;
  #inWord = false;

  add(text: string): void {
    if (text === '') return;
    const goesOn = this.#inWord && /^\S/.test(text);
    this.count += countWords(text) - (goesOn ? 1 : 0);
    this.#inWord = /\S$/.test(text);
  }
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
