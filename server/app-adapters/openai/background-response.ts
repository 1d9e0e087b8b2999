import type { StepContext } from '../../apps/step-context.js';
import { upstreamFailed } from '../upstream-failed.js';
import type { ResponseEvent, ResponsesClient } from './sdk.js';

/** The place of a response in a stream that its provider keeps. */
interface StreamPlace {
  readonly id: string;
  /** Number of the last event that was seen. */
  readonly after: number;
}

/** Options of a response in the background. */
export interface BackgroundOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

const OVER: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/** Streams that may break off one after the other, without an event between them. */
const MAX_BREAKS = 3;

/**
 * Asks a model in the background, and yields the events of its answer. The provider goes on without a reader: a stream that breaks off is taken up where it was, and
 * in a `resumable` app the process that does the step again reads the same answer from its beginning. The model is asked once. The end of the run cancels
 * the answer.
 *
 * @param request The body of the request, without `background`, `store` and `stream`.
 * @param step The step in which it is asked.
 *
 * @example
 * ```ts
 * import OpenAI from 'openai';
 *
 * const openai = new OpenAI();
 * const app = defineApp({
 *   async run(turn) {
 *     return turn.step('research', async (step) => {
 *       let text = '';
 *       for await (const event of backgroundResponse(openai, { model: 'o3', input: turn.text }, step))
 *         if (event.type === 'response.output_text.delta') text += event.delta;
 *       return text;
 *     });
 *   },
 * });
 * ```
 */
export async function* backgroundResponse(
  client: ResponsesClient,
  request: Readonly<Record<string, unknown>>,
  step: Pick<StepContext, 'key' | 'signal' | 'noted' | 'note'>,
  { headers = {} }: BackgroundOptions = {},
): AsyncGenerator<ResponseEvent, void> {
  const { signal } = step;
  let place = (step.noted ?? null) as StreamPlace | null;
  let isOver = false;
  const open = async (): Promise<AsyncIterable<ResponseEvent>> => {
    if (place) {
      const from = { stream: true, starting_after: place.after } as const;
      try {
        return await client.responses.retrieve(place.id, from, { signal, headers });
      } catch (error) {
        // The provider has dropped what a former process began.
        if (place !== step.noted || (error as { readonly status?: unknown }).status !== 404) throw error;
        place = null;
      }
    }
    const body = { ...request, background: true, store: true, stream: true };
    return client.responses.create(body as never, {
      signal,
      // A provider that knows it answers a request that was sent before with the same response.
      headers: { ...headers, 'idempotency-key': step.key },
    }) as unknown as Promise<AsyncIterable<ResponseEvent>>;
  };
  try {
    for (let breaks = 0; ; breaks += 1) {
      let failure: unknown;
      try {
        for await (const event of await open()) {
          breaks = 0;
          const { sequence_number: after } = event;
          if (place) place = { id: place.id, after };
          else if ('response' in event) {
            place = { id: event.response.id, after };
            await step.note(place);
          }
          isOver = OVER.has(event.type);
          yield event;
          if (isOver) return;
        }
      } catch (error) {
        failure = error;
      }
      if (signal.aborted || !place || breaks >= MAX_BREAKS || isRefusal(failure))
        throw failure ?? upstreamFailed('The stream ended before the answer did');
    }
  } finally {
    // A process that leaves the run to another one leaves the answer to it too.
    if (place && !isOver && signal.aborted && (signal.reason as Error)?.message !== 'lost')
      await client.responses.cancel(place.id, { headers }).catch(() => {});
  }
}

/** Whether the provider has answered that it does not go on. */
const isRefusal = (error: unknown): boolean => {
  const { status } = (error ?? {}) as { readonly status?: unknown };
  return typeof status === 'number' && status < 500;
};
