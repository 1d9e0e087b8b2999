import { GatewayError } from '../../shared/errors.js';
import type { WebhookBody } from '../../shared/notices.js';
import { isSigned, secretProblem } from './signature.js';

/** A webhook as it came: a web `Request`, or headers and the body as it was read, before anything parsed it. */
export type ReceivedWebhook =
  | Request
  | {
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly body: string | Uint8Array;
    };

/** Options of `verifyWebhook`. */
export interface VerifyOptions {
  /** How old a webhook may be, and how far ahead of this clock, in milliseconds. @default 5 minutes */
  readonly toleranceMs?: number | undefined;
}

const refused = (message: string): GatewayError => new GatewayError({ code: 'UNAUTHENTICATED', message });

/**
 * Checks that a webhook is a gateway's and not an old one, and returns what it says. Its `data.id` is the same each time it is told: do
 * once what you do for it.
 *
 * @param secrets One, or two while one takes the place of the other.
 * @throws GatewayError `UNAUTHENTICATED`: answer 401; `INVALID_REQUEST` for a secret that is none
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
    throw refused('This is no signed webhook');
  const timestamp = Number(seconds);
  if (!(Math.abs(Date.now() - timestamp * 1000) <= toleranceMs))
    throw refused('The webhook is too old, or too new');
  const body = received instanceof Request ? await received.text() : received.body;
  if (!isSigned({ id, timestamp, body }, signature, all))
    throw refused('The signature is not of this webhook');
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8')) as WebhookBody;
}

function headerOf({ headers }: ReceivedWebhook, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const key = Object.keys(headers).find((each) => each.toLowerCase() === name);
  const value = key === undefined ? undefined : (headers as Record<string, string | readonly string[]>)[key];
  return typeof value === 'string' ? value : value?.[0];
}
