import { ChatRequest } from './chat-request.js';

const REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
};

/** One request by Anthropic's Messages, and the test's answer to it: in the words of chat completions, or event by event. */
export class MessagesRequest extends ChatRequest {
  #index = -1;
  #open: string | null = null;

  /** Writes one event. The first is preceded by the beginning of the message. */
  event(type: string, fields: object = {}): this {
    if (!this.response.headersSent) {
      this.response.writeHead(200, { 'content-type': 'text/event-stream' });
      const usage = { input_tokens: 3, output_tokens: 1 };
      const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'tiny', content: [], usage };
      if (type !== 'message_start') this.event('message_start', { message });
    }
    return this.raw(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  }

  /** Begins a block, after the end of the one before. */
  block(content_block: object, name = ''): this {
    this.#end();
    this.#open = name;
    this.#index += 1;
    return this.event('content_block_start', { index: this.#index, content_block });
  }

  /** Adds to the open block. */
  delta(delta: object): this {
    return this.event('content_block_delta', { index: this.#index, delta });
  }

  override chunk({ content, reasoning_content: thinking, tool_calls: calls = [] }: any): this {
    if (thinking) {
      this.#within('thinking', { type: 'thinking', thinking: '', signature: '' });
      this.delta({ type: 'thinking_delta', thinking });
    }
    if (content) {
      this.#within('text', { type: 'text', text: '', citations: null });
      this.delta({ type: 'text_delta', text: content });
    }
    for (const { index, id, function: called } of calls) {
      this.#within(`call ${index}`, { type: 'tool_use', id, name: called.name, input: {} });
      this.delta({ type: 'input_json_delta', partial_json: called.arguments });
    }
    return this;
  }

  override finish(reason = 'stop', usage: object = { output_tokens: 2 }): void {
    this.#end();
    const delta = { stop_reason: REASONS[reason] ?? reason, stop_sequence: null };
    this.event('message_delta', { delta, usage }).event('message_stop').end();
  }

  #within(name: string, block: object): void {
    if (this.#open !== name) this.block(block, name);
  }

  #end(): void {
    if (this.#open !== null) this.event('content_block_stop', { index: this.#index });
    this.#open = null;
  }
}
