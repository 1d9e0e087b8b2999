import type { ContentBlock } from '../../../shared/messages.js';
import type { AppEvent, Turn } from '../../apps/application.js';
import type { ModelEndpoint } from '../model-caller.js';
import { traceHeaders } from '../trace-headers.js';
import { backgroundResponse } from './background-response.js';
import { Completion } from './completion.js';
import { ResponseAnswer } from './response-answer.js';
import type { OpenAIClient, ResponsesClient } from './sdk.js';
import { toResponse } from './to-response.js';

/** The text of an answer, for a run that has it from a former process. */
function* saidAgain(said: readonly ContentBlock[]): Iterable<string | AppEvent> {
  for (const block of said) {
    if (block.type === 'text') yield block.text;
    if (block.type === 'reasoning') yield { type: 'reasoning_delta', delta: block.text };
  }
}

/** Asks by chat completions, or in the background by the Responses API. */
export function endpointOf(
  turn: Turn,
  client: OpenAIClient,
  {
    models: others = [],
    resumable = false,
    background = false,
  }: { readonly models?: readonly string[]; readonly resumable?: boolean; readonly background?: boolean },
): ModelEndpoint<readonly ContentBlock[]> {
  return {
    ...{ adapter: 'openai', provider: 'openai', others },
    baseURL: (client as { readonly baseURL?: string }).baseURL,
    durable: resumable || background,
    reader: () => (background ? new ResponseAnswer() : new Completion()),
    again: saidAgain,
    async stream(request, step) {
      const headers = traceHeaders(turn);
      if (background && step)
        return backgroundResponse(client as OpenAIClient & ResponsesClient, toResponse(request), step, {
          headers,
        });
      const { signal } = turn;
      return client.chat.completions.create({ ...request, stream: true } as never, {
        signal,
        headers,
      }) as never;
    },
  };
}
