import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenOnLoopback } from './host-server.js';

type Fields = Readonly<Record<string, unknown>>;

/** An answer that the endpoint makes without anybody who reads it; the test writes it. */
export class BackgroundAnswer {
  readonly id: string;
  readonly body: any;
  readonly events: Fields[] = [];
  readonly readers = new Set<ServerResponse>();
  isCancelled = false;
  #text = '';
  #output: Fields[] = [];

  constructor(id: string, body: any) {
    this.id = id;
    this.body = body;
    this.#put({ type: 'response.created', response: this.#response('queued') });
    this.#put({ type: 'response.in_progress', response: this.#response('in_progress') });
  }

  get isOver(): boolean {
    return /completed|failed|incomplete/.test(String(this.events.at(-1)!.type));
  }

  #response(status: string, more: object = {}): object {
    return { id: this.id, object: 'response', status, model: 'tiny', output: this.#output, ...more };
  }

  #put(event: Fields): this {
    const numbered = { ...event, sequence_number: this.events.length };
    this.events.push(numbered);
    for (const reader of this.readers) this.#write(reader, numbered);
    return this;
  }

  #write(reader: ServerResponse, event: Fields): void {
    reader.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    if (/completed|failed|incomplete/.test(String(event.type))) reader.end();
  }

  /** Streams the events behind one, and those to come. */
  read(reader: ServerResponse, after: number): void {
    reader.writeHead(200, { 'content-type': 'text/event-stream' });
    this.readers.add(reader);
    reader.once('close', () => this.readers.delete(reader));
    for (const event of this.events.slice(after + 1)) this.#write(reader, event);
  }

  text(delta: string): this {
    this.#text += delta;
    const at = { item_id: 'msg', output_index: 0, content_index: 0 };
    return this.#put({ type: 'response.output_text.delta', ...at, delta });
  }

  reasoning(delta: string): this {
    return this.#put({
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs',
      output_index: 0,
      summary_index: 0,
      delta,
    });
  }

  call(call_id: string, name: string, input: unknown): this {
    const item = { id: 'fc', type: 'function_call', call_id, name, arguments: JSON.stringify(input) };
    this.#output.push(item);
    return this.#put({ type: 'response.output_item.done', output_index: this.#output.length, item });
  }

  finish(status: 'completed' | 'incomplete' | 'failed' = 'completed'): void {
    const usage = { input_tokens: 7, output_tokens: this.#text.length, total_tokens: 7 + this.#text.length };
    const more = {
      usage,
      error: status === 'failed' ? { code: 'server_error', message: 'the model is ill' } : null,
    };
    this.#put({ type: `response.${status}`, response: this.#response(status, more) });
  }

  /** Cuts all who read. */
  cut(): void {
    for (const reader of this.readers) reader.destroy();
  }
}

/** A small endpoint of the Responses API over real HTTP that answers in the background. */
export class BackgroundEndpoint {
  readonly answers: BackgroundAnswer[] = [];
  /** What was asked of answers that were there already: ids and places. */
  readonly retrieved: (readonly [id: string, after: number])[] = [];
  #wake = () => {};
  #url = '';

  static async start(): Promise<BackgroundEndpoint> {
    const endpoint = new BackgroundEndpoint();
    endpoint.#url = `${await listenOnLoopback((request, response) => void endpoint.#serve(request, response))}/v1`;
    return endpoint;
  }

  get url(): string {
    return this.#url;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const piece of request) text += piece;
    const { pathname, searchParams } = new URL(request.url!, this.#url);
    const [, id, verb] = /^\/v1\/responses(?:\/([^/]+))?(?:\/(cancel))?$/.exec(pathname) ?? [];
    if (request.method === 'POST' && id === undefined) {
      const answer = new BackgroundAnswer(`resp_${this.answers.length + 1}`, JSON.parse(text));
      this.answers.push(answer);
      answer.read(response, -1);
    } else {
      const answer = this.answers.find((each) => each.id === id);
      const json = { 'content-type': 'application/json' };
      if (!answer) response.writeHead(404, json).end('{"error":{"message":"not found"}}');
      else if (verb === 'cancel') {
        answer.isCancelled = true;
        response.writeHead(200, json).end('{}');
      } else {
        const after = Number(searchParams.get('starting_after') ?? -1);
        this.retrieved.push([answer.id, after]);
        answer.read(response, after);
      }
    }
    this.#wake();
  }

  /** The answer of this number, from 1, once it is asked for. */
  async next(count: number): Promise<BackgroundAnswer> {
    await this.until(() => this.answers.length >= count);
    return this.answers[count - 1]!;
  }

  /** Resolves once something holds that requests change. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}
