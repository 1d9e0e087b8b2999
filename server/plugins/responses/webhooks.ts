import type { WebhookShape } from '../../../shared/notices/options.js';
import { responseId } from '../../../shared/responses/ids.js';
import { AskedOfCaller } from '../../../shared/responses/questions.js';
import { ResponseStream } from '../../../shared/responses/stream.js';
import type { ResponseWriterOptions } from '../../../shared/responses/types.js';
import { echoIn } from '../../../shared/responses/types.js';
import { digest } from './places.js';

/**
 * Shapes the webhooks of `notify` for background responses like OpenAI's: `response.completed`, `response.failed`, `response.cancelled`
 * and `response.incomplete`, with the id of the response. `client.webhooks.unwrap` of the package `openai` reads them.
 *
 * @param options `ownTools`: the same value as for `responsesPlugin`
 *
 * @example
 * ```ts
 * const webhooks = { url: 'https://example.com/hooks', secrets: process.env.HOOK_SECRET!, shape: openaiWebhooks() };
 * const gateway = createGateway({ app, notify: { webhooks } });
 * ```
 */
export function openaiWebhooks(options: ResponseWriterOptions = {}): WebhookShape {
  return async ({ kind, sessionId, runId, callId, at }, events) => {
    if (runId === undefined || (kind !== 'run_ended' && kind !== 'input_required')) return null;
    const asked = new AskedOfCaller(runId, options);
    for await (const event of events()) {
      const isBegin = event.type === 'message_accepted' && event.runId === runId;
      if (isBegin && echoIn(event.message.metadata).background !== true) return null;
      asked.take(event);
    }
    asked.head();
    const { batches } = asked;
    const index =
      kind === 'run_ended'
        ? batches.length
        : batches.findIndex((batch) => batch.some((call) => call.callId === callId));
    if (index === -1) return null;
    const name = { sessionId, runId, index };
    const stream = new ResponseStream(name, options);
    for await (const event of events()) stream.take(event);
    stream.head();
    const { status } = stream.response;
    if (!stream.begun || status === 'queued' || status === 'in_progress') return null;
    const type = `response.${status}`;
    const response = responseId(name);
    // Several simultaneous questions belong to one response, so all their webhooks have the same id.
    const id = `evt_${digest(`${type} ${response}`)}`;
    const created = Math.floor(at / 1000);
    return { id, body: { id, object: 'event', type, created_at: created, data: { id: response } } };
  };
}
