import { tapes } from './tape.js';

/** An answer of a model's endpoint, as a record has it. */
interface ModelResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * A `fetch` for the client of a model. In a recorded run it notes the answers while they reach the app, piece by piece as they come; in a replayed one, it
 * returns them from the record. Elsewhere it is the plain `fetch`.
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
  const call = { kind: 'model', name: pathname, input: parsed(text) } as const;
  if (tape.note) return heard(request, tape.note.bind(tape, call));
  const unknown = (): Promise<ModelResponse> => Promise.reject(new Error('No record has this call'));
  const { status, contentType, body } = await tape.call(call, unknown);
  return new Response(body, { status, headers: { 'content-type': contentType } });
};

/** The answer to a request, which is noted while it is read. It is read no faster than the app reads it. */
async function heard(
  request: Request,
  note: (output: () => ModelResponse | null) => (error?: unknown) => void,
): Promise<Response> {
  const response = await fetch(request).catch((error: unknown) => {
    note(() => null)(error);
    throw error;
  });
  const { status, statusText, headers, body } = response;
  const pieces: Uint8Array[] = [];
  const contentType = headers.get('content-type') ?? '';
  const end = note(() => ({ status, contentType, body: Buffer.concat(pieces).toString() }));
  const reader = body?.getReader();
  if (!reader) {
    end();
    return response;
  }
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      const { done, value } = await reader.read();
      if (done) {
        end();
        return controller.close();
      }
      pieces.push(value);
      controller.enqueue(value);
    } catch (error) {
      end(error);
      throw error;
    }
  };
  const cancel = (reason: unknown): Promise<void> => {
    end();
    return reader.cancel(reason);
  };
  return new Response(new ReadableStream({ pull, cancel }, { highWaterMark: 0 }), {
    ...{ status, statusText, headers },
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
