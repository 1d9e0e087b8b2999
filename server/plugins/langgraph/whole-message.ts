import { type LangChainBlock, type LangChainCall, type LangChainMessage, saidContent } from './messages.js';

/** A piece of a message, as the protocol tells it. */
export interface MessagePiece {
  readonly event: string;
  /** Present at the start of a message. */
  readonly id?: string;
  readonly role?: string;
  readonly tool_call_id?: string;
  readonly name?: string;
  /** Present in a block. */
  readonly index?: number;
  readonly content?: LangChainBlock;
  readonly delta?: { readonly type: string; readonly text?: string; readonly reasoning?: string };
  /** Present at the end. */
  readonly usage?: Readonly<Record<string, number>>;
}

/** A message of the classic streams, put together from its pieces. */
export class WholeMessage {
  readonly #start: MessagePiece;
  readonly #failed: ReadonlySet<unknown>;
  readonly #blocks: LangChainBlock[] = [];

  /** @param failed Ids of calls that failed */
  constructor(start: MessagePiece, failed: ReadonlySet<unknown>) {
    this.#start = start;
    this.#failed = failed;
  }

  /** Whether it is the result of a call. */
  get isResult(): boolean {
    return this.#start.role === 'tool';
  }

  take({ event, index = 0, content, delta }: MessagePiece): void {
    if (content && event.startsWith('content-block-')) this.#blocks[index] = content;
    const block = this.#blocks[index];
    if (!delta || !block) return;
    const { text = '', reasoning = '' } = delta;
    this.#blocks[index] =
      block.type === 'reasoning'
        ? { ...block, reasoning: `${block['reasoning']}${reasoning}` }
        : { ...block, text: `${block['text']}${text}` };
  }

  /** The message so far. @param usage The counts of its end */
  whole(usage?: MessagePiece['usage']): LangChainMessage {
    const { id = '', name, tool_call_id: callId } = this.#start;
    const blocks = this.#blocks.filter((block) => block !== undefined);
    if (this.isResult) {
      const status = this.#failed.has(callId) ? 'error' : 'success';
      const called = {
        ...(name !== undefined && { name }),
        ...(callId !== undefined && { tool_call_id: callId }),
      };
      return { type: 'tool', id, ...called, status, content: saidContent(blocks) };
    }
    const calls = blocks.filter(({ type }) => type === 'tool_call') as unknown as LangChainCall[];
    const said = blocks.filter(({ type }) => type !== 'tool_call');
    const counts = usage && { usage_metadata: usage };
    return { type: 'ai', id, content: saidContent(said), tool_calls: calls, ...counts };
  }

  /** The addition of a piece to the message, as a chunk of LangChain's; null if there is none. */
  chunk({ event, index, content, delta }: MessagePiece): object | null {
    const { id, name, tool_call_id } = this.#start;
    const isFinish = event === 'content-block-finish';
    if (this.isResult)
      return isFinish ? { type: 'tool', id, name, tool_call_id, content: content?.['text'] } : null;
    const ai = { type: 'AIMessageChunk', id };
    if (event === 'content-block-delta' && delta?.type === 'text-delta')
      return { ...ai, content: delta.text };
    if (event === 'content-block-delta')
      return { ...ai, content: [{ type: 'reasoning', reasoning: delta?.reasoning, index }] };
    if (!isFinish || content?.type !== 'tool_call') return null;
    const { id: callId, name: called, args } = content;
    const chunk = { type: 'tool_call_chunk', id: callId, name: called, args: JSON.stringify(args), index };
    return { ...ai, content: '', tool_calls: [content], tool_call_chunks: [chunk] };
  }
}
