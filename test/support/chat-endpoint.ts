import { ChatRequest } from './chat-request.js';
import { listenOnLoopback } from './host-server.js';
import { MessagesRequest } from './messages-request.js';

export { ChatRequest };

const REQUESTS: Readonly<Record<string, typeof ChatRequest>> = {
  '/v1/chat/completions': ChatRequest,
  '/v1/responses': ChatRequest,
  '/v1/messages': MessagesRequest,
};

/** A small endpoint that speaks OpenAI's chat completions over real HTTP, its responses, or Anthropic's Messages; the test writes the answers. */
export class ChatEndpoint {
  readonly asked: ChatRequest[] = [];
  #taken = 0;
  #wake = () => {};
  #url = '';

  static async start(): Promise<ChatEndpoint> {
    const endpoint = new ChatEndpoint();
    const url = await listenOnLoopback(async (request, response) => {
      let text = '';
      for await (const piece of request) text += piece;
      const Asked = REQUESTS[request.url ?? ''];
      if (!Asked) {
        response.writeHead(404).end();
        return;
      }
      endpoint.asked.push(new Asked(JSON.parse(text), request.headers, response));
      endpoint.#wake();
    });
    endpoint.#url = `${url}/v1`;
    return endpoint;
  }

  get url(): string {
    return this.#url;
  }

  /** Its address as Anthropic's clients want it. */
  get origin(): string {
    return new URL(this.#url).origin;
  }

  /** The request of this number, from 1, when it has come. @param count By default the one after the last that was taken */
  async next(count = this.#taken + 1): Promise<ChatRequest> {
    this.#taken = count;
    while (this.asked.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.asked[count - 1]!;
  }
}
