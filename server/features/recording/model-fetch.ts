import { tapes } from './tape.js';

/** An answer of a model's endpoint. */
interface ModelResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * A `fetch` for the client of a model. In a recorded run, it keeps the answers; in a replayed one, it returns them from the record.
 * Elsewhere it is the plain `fetch`. While recording, an answer reaches the app only when it is complete.
 *
 * @example
 * ```ts
 * import OpenAI from 'openai';
 *
 * const openai = new OpenAI({ fetch: modelFetch });
 * ```
 */
export const modelFetch: typeof fetch = async (input, init) => {
  const tape = tapes.getStore();
  if (!tape) return fetch(input, init);
  const request = new Request(input, init);
  const text = await request.clone().text();
  const { pathname } = new URL(request.url);
  const { status, contentType, body } = await tape.call(
    { kind: 'model', name: pathname, input: parsed(text) },
    async (): Promise<ModelResponse> => {
      const response = await fetch(request);
      const contentType = response.headers.get('content-type') ?? '';
      return { status: response.status, contentType, body: await response.text() };
    },
  );
  return new Response(body, { status, headers: { 'content-type': contentType } });
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
