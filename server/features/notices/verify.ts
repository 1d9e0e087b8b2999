import { GatewayError } from '../../../shared/errors.js';
import type { WebhookBody } from '../../../shared/notices/contract.js';
import { isSigned, secretProblem } from '../../runtime/signature.js';

/** A received webhook: a web `Request`, or the headers and the body before anything parsed it. */
export type ReceivedWebhook =
  | Request
  | {
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly body: string | Uint8Array;
    };

/** Options of `verifyWebhook`. */
export interface VerifyOptions {
  /** Most that a webhook's time may differ from this clock, in milliseconds. @default 5 minutes */
  readonly toleranceMs?: number | undefined;
}

const refused = (message: string): GatewayError => new GatewayError({ code: 'UNAUTHENTICATED', message });

/**
 * Checks the signature and the age of a webhook, and returns its body. Repeated deliveries have the same `data.id`: act on it once.
 *
 * @param secrets One secret, or two during a rotation.
 * @throws GatewayError `UNAUTHENTICATED`: answer 401; `INVALID_REQUEST` for an invalid secret
 *
 * @example
 * ```ts
 * export async function POST(request: Request): Promise<Response> {
 *   const { type, data } = await verifyWebhook(request, process.env.HOOK_SECRET!);
 *   console.log(type, data.id);
 *   return new Response(null, { status: 204 });
 * }
 * ```
 */
export async function verifyWebhook(
  received: ReceivedWebhook,
  secrets: string | readonly string[],
  { toleranceMs = 300_000 }: VerifyOptions = {},
): Promise<WebhookBody> {
  const all = typeof secrets === 'string' ? [secrets] : secrets;
  const problem = all.length === 0 ? 'there is none' : all.map(secretProblem).find(Boolean);
  if (problem !== undefined)
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `secret: ${problem}` });
  const id = headerOf(received, 'webhook-id');
  const seconds = headerOf(received, 'webhook-timestamp');
  const signature = headerOf(received, 'webhook-signature');
  if (!id || !signature || !seconds || !/^\d{1,12}$/.test(seconds))
    throw refused('The request is not a signed webhook');
  const timestamp = Number(seconds);
  if (!(Math.abs(Date.now() - timestamp * 1000) <= toleranceMs))
    throw refused('The webhook is too old, or too new');
  const body = received instanceof Request ? await received.text() : received.body;
  if (!isSigned({ id, timestamp, body }, signature, all))
    throw refused('The signature does not match the webhook');
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8')) as WebhookBody;
}

function headerOf({ headers }: ReceivedWebhook, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const key = Object.keys(headers).find((each) => each.toLowerCase() === name);
  const value = key === undefined ? undefined : (headers as Record<string, string | readonly string[]>)[key];
  return typeof value === 'string' ? value : value?.[0];
}
