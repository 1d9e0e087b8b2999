import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeLater } from './resources.js';

/** One request for a completion; the test writes the answer. */
export class Completion {
  readonly body: any;
  readonly headers: IncomingMessage['headers'];
  readonly response: ServerResponse;
  /** Resolves when the connection is gone, whoever ended it. */
  readonly closed: Promise<unknown>;
  readonly #id = `chatcmpl-${randomUUID()}`;

  constructor(request: IncomingMessage, response: ServerResponse, body: unknown) {
    this.body = body;
    this.headers = request.headers;
    this.response = response;
    this.closed = once(response, 'close');
  }

  chunk(delta: object, more: object = {}, finishReason: string | null = null): this {
    const first = !this.response.headersSent;
    if (first) this.response.writeHead(200, { 'content-type': 'text/event-stream' });
    const choices = [
      { index: 0, delta: { ...(first && { role: 'assistant' }), ...delta }, finish_reason: finishReason },
    ];
    const base = { id: this.#id, object: 'chat.completion.chunk', created: 1, model: 'tiny' };
    this.response.write(`data: ${JSON.stringify({ ...base, choices, ...more })}\n\n`);
    return this;
  }

  text(content: string): this {
    return this.chunk({ content });
  }

  /** A tool call in pieces, as models write them. */
  call(id: string, name: string, input: unknown, index = 0): this {
    const args = JSON.stringify(input);
    const half = Math.floor(args.length / 2);
    this.chunk({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: args.slice(0, half) } }],
    });
    return this.chunk({ tool_calls: [{ index, function: { arguments: args.slice(half) } }] });
  }

  finish(reason = 'stop', usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }): void {
    this.chunk({}, {}, reason).chunk({}, { choices: [], usage });
    this.response.end('data: [DONE]\n\n');
  }

  refuse(status: number, message: string): void {
    this.response.writeHead(status, { 'content-type': 'application/json' });
    this.response.end(JSON.stringify({ error: { message, type: 'server_error' } }));
  }

  /** Cuts the connection. */
  cut(): void {
    this.response.destroy();
  }
}

/** A model behind OpenAI's chat completions over real HTTP; the test answers each request itself. */
export class ChatEndpoint {
  readonly #asked: Completion[] = [];
  #taken = 0;
  #wake = () => {};
  readonly #server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    this.#asked.push(new Completion(request, response, JSON.parse(text)));
    this.#wake();
  });

  static async open(): Promise<ChatEndpoint> {
    const endpoint = new ChatEndpoint();
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    return closeLater(endpoint, (it) => {
      it.#server.closeAllConnections();
      it.#server.close();
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Requests so far. */
  get count(): number {
    return this.#asked.length;
  }

  /** The next request, in the order of their arrival. */
  async next(): Promise<Completion> {
    const at = this.#taken++;
    while (this.#asked.length <= at) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#asked[at]!;
  }
}
