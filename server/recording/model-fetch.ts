import { tapes } from './tape.js';

/** What a model's endpoint answered. */
interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * A `fetch` for the client of a model: in a run that is recorded its answers are kept, in one that is replayed they come from the record.
 * Anywhere else it is `fetch`. A recorded answer reaches the app when it is whole.
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
    async (): Promise<Answer> => {
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
