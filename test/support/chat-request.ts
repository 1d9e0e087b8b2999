import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** One request to a chat-completions endpoint, and the test's answer to it. */
export class ChatRequest {
  readonly body: any;
  readonly headers: IncomingHttpHeaders;
  /** Resolves when the connection is gone, or the answer was sent. */
  readonly closed: Promise<void>;
  readonly response: ServerResponse;
  readonly #id = `chatcmpl-${randomUUID()}`;

  constructor(body: any, headers: IncomingHttpHeaders, response: ServerResponse) {
    this.body = body;
    this.headers = headers;
    this.response = response;
    this.closed = new Promise((resolve) => response.once('close', resolve));
  }

  /** Whether the whole answer was sent, as opposed to a connection that the caller cut. */
  get finished(): boolean {
    return this.response.writableFinished;
  }

  chunk(delta: object, rest: object = {}): this {
    const first = !this.response.headersSent;
    if (first) this.response.writeHead(200, { 'content-type': 'text/event-stream' });
    const base = { id: this.#id, object: 'chat.completion.chunk', created: 1, model: 'tiny' };
    const choices = [
      { index: 0, delta: { ...(first && { role: 'assistant' }), ...delta }, finish_reason: null },
    ];
    this.response.write(`data: ${JSON.stringify({ ...base, choices, ...rest })}\n\n`);
    return this;
  }

  text(content: string): this {
    return this.chunk({ content });
  }

  /** Calls a tool, in two fragments of its arguments, as models write them. */
  call(id: string, name: string, input: unknown, index = 0): this {
    return this.#call({ id, name, input: JSON.stringify(input) }, index);
  }

  /** Calls tools with arguments as they are. */
  calls(...calls: readonly { id: string; name: string; input: string }[]): this {
    calls.forEach((call, index) => {
      this.#call(call, index);
    });
    return this;
  }

  #call({ id, name, input }: { id: string; name: string; input: string }, index: number): this {
    const half = Math.floor(input.length / 2);
    const first = { name, arguments: input.slice(0, half) };
    this.chunk({ tool_calls: [{ index, id, type: 'function', function: first }] });
    return this.chunk({ tool_calls: [{ index, function: { arguments: input.slice(half) } }] });
  }

  finish(reason = 'stop', usage: object = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }): void {
    this.chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    this.chunk({}, { choices: [], usage });
    this.response.end('data: [DONE]\n\n');
  }

  /** Answers with text and ends. */
  say(text: string): void {
    this.text(text).finish();
  }

  /** Writes as it is, in the stream. */
  raw(text: string): this {
    this.response.write(text);
    return this;
  }

  fail(status: number, message: string): void {
    this.response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
    this.response.end(JSON.stringify({ error: { message, type: 'x', param: null, code: null } }));
  }

  /** Ends the answer as it is. */
  end(): void {
    this.response.end();
  }

  /** Cuts the connection. */
  cut(): void {
    this.response.destroy();
  }
}
