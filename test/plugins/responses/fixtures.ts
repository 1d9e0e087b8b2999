import OpenAI6 from 'openai';
import OpenAI7 from 'openai7';
import type { GatewayConfig } from '../../../server/index.js';
import { type ResponsesOptions, responsesPlugin } from '../../../server/plugins/responses/index.js';
import type { TestGateway } from '../../support/gateway.js';
import { type AskInit, type Asking, askBelow, posting, startDoor } from '../door.js';

/** The majors of the vendor's client. */
export const MAJORS = [
  { major: 6, OpenAI: OpenAI6 },
  { major: 7, OpenAI: OpenAI7 },
] as unknown as readonly Major[];

/** One major; the types of the others differ in what tests don't look at. */
export interface Major {
  readonly major: 6 | 7;
  readonly OpenAI: typeof OpenAI6;
}

export interface ResponsesGateway extends TestGateway, Asking {
  readonly baseURL: string;
  /** The vendor's own client, for a user of `byName`. */
  client(
    major: Major,
    options?: { readonly user?: string } & ConstructorParameters<typeof OpenAI6>[0],
  ): OpenAI6;
  /** Posts a request as it is. */
  post(body: unknown, init?: AskInit): Promise<Response>;
}

/** A gateway with the plugin. */
export const startResponses = async (config: GatewayConfig<any, any, any>, options?: ResponsesOptions) =>
  withResponses(await startDoor(responsesPlugin(options), config), options?.path);

export function withResponses(started: TestGateway, path = '/v1'): ResponsesGateway {
  const baseURL = `${started.url}${path}`;
  const ask = askBelow(baseURL);
  return {
    ...started,
    baseURL,
    client: ({ OpenAI }, { user = 'alice', ...more } = {}) =>
      new OpenAI({ baseURL, apiKey: user, maxRetries: 0, ...more }),
    ask,
    post: (body, init) => ask('/responses', posting(body, init)),
  };
}

/** The events of a stream; `[DONE]` is a string, comments are left out. */
export function framesIn(text: string): any[] {
  return text.split('\n\n').flatMap((frame) => {
    const data = frame.split('\n').find((line) => line.startsWith('data: '));
    if (data === undefined) return [];
    return [data === 'data: [DONE]' ? '[DONE]' : JSON.parse(data.slice(6))];
  });
}

export const framesOf = async (response: Response): Promise<any[]> => framesIn(await response.text());

/** A function that a caller brings along. */
export const brought = (name: string) => ({
  type: 'function' as const,
  name,
  description: `Does ${name}`,
  parameters: { type: 'object', properties: {} },
  strict: false,
});

/** What is comparable of a value of the client's. */
export const plain = (value: unknown): any => JSON.parse(JSON.stringify(value));
