import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A piece of a scripted model's answer. A string is text. */
export type ModelStep =
  | string
  /** Calls a tool. The app runs it, and sends the result with its next request. */
  | { readonly call: string; readonly input?: unknown }
  | { readonly waitMs: number }
  /** The endpoint answers with this status. If a part of the answer was already sent, the connection breaks instead. */
  | { readonly fail: number; readonly message?: string }
  /** The connection breaks here. */
  | { readonly cut: true };

/** A request to a scripted model: the body of a chat completion. */
export interface ModelRequest {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly stream?: boolean;
  readonly [field: string]: unknown;
}

/** An endpoint that speaks OpenAI's chat completions on loopback. */
export interface ScriptedModel extends AsyncDisposable {
  /** The base URL for `openaiApp`, `createOpenAICompatible` and other clients of such endpoints. */
  readonly baseURL: string;
  /** The requests so far, in order. */
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

/**
 * Starts a model that plays a script over real HTTP, for apps that use an endpoint.
 *
 * @param script The answers to requests, in order; the last one repeats.
 *
 * @example
 * ```ts
 * await using endpoint = await scriptedModel([[{ call: 'weather', input: { city: 'Oslo' } }], ['It rains.']]);
 * ```
 */
export async function scriptedModel(script: readonly (readonly ModelStep[])[]): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    if (!request.url?.endsWith('/chat/completions')) return void response.writeHead(404).end();
    const asked = JSON.parse(text) as ModelRequest;
    const steps = script[Math.min(requests.push(asked), script.length) - 1] ?? [];
    const completion = new ScriptedCompletion(response, `chatcmpl-${requests.length}`);
    await completion.say(steps, asked.stream === true);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface ScriptedCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

class ScriptedCompletion {
  readonly #response: ServerResponse;
  readonly #base: object;
  readonly #id: string;
  #text = '';
  readonly #calls: ScriptedCall[] = [];

  constructor(response: ServerResponse, id: string) {
    this.#response = response;
    this.#id = id;
    this.#base = { id, created: 1, model: 'scripted' };
  }

  async say(steps: readonly ModelStep[], streams: boolean): Promise<void> {
    for (const step of steps) {
      if (typeof step === 'string') this.#say(step, streams);
      else if ('call' in step) this.#call(step.call, step.input ?? {}, streams);
      else if ('waitMs' in step) await new Promise((resolve) => setTimeout(resolve, step.waitMs));
      else if ('cut' in step) return void this.#response.destroy();
      else return this.#fail(step.fail, step.message ?? 'The test has this fail');
    }
    this.#finish(streams);
  }

  #say(content: string, streams: boolean): void {
    this.#text += content;
    if (streams) this.#chunk({ content });
  }

  #call(name: string, input: unknown, streams: boolean): void {
    const index = this.#calls.length;
    const call: ScriptedCall = {
      id: `call_${this.#id}_${index}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    };
    this.#calls.push(call);
    if (streams) this.#chunk({ tool_calls: [{ index, ...call }] });
  }

  #fail(status: number, message: string): void {
    if (this.#response.headersSent) return void this.#response.destroy();
    // Otherwise clients would retry by themselves.
    this.#response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
    this.#response.end(JSON.stringify({ error: { message, type: 'scripted', param: null, code: null } }));
  }

  #finish(streams: boolean): void {
    const reason = this.#calls.length > 0 ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    if (streams) {
      this.#chunk({}, { finish_reason: reason });
      this.#write({ choices: [], usage });
      return void this.#response.end('data: [DONE]\n\n');
    }
    const message = {
      role: 'assistant',
      content: this.#text || null,
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    };
    const choices = [{ index: 0, message, finish_reason: reason }];
    this.#response.writeHead(200, { 'content-type': 'application/json' });
    this.#response.end(JSON.stringify({ object: 'chat.completion', choices, usage, ...this.#base }));
  }

  #chunk(delta: object, rest: object = { finish_reason: null }): void {
    this.#write({ choices: [{ index: 0, delta: { role: 'assistant', ...delta }, ...rest }] });
  }

  #write(body: object): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#response.write(
      `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...body, ...this.#base })}\n\n`,
    );
  }
}
