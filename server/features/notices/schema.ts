import * as z from 'zod';
import { FEATURE_CAUSES } from '../../../shared/feature-events.js';
import { secretProblem } from '../../runtime/signature.js';
import { assertPublicHost } from './addresses.js';

const kind = z.enum(['run_ended', 'input_required', ...FEATURE_CAUSES, 'taken_over', 'hand_off']);
const func = z.custom((value) => typeof value === 'function', 'must be a function');
/** A delivery is due again after 15 s, so an attempt has to end before. */
const MOST_MS = 13_000;

const webhook = z.strictObject({
  url: z.string(),
  secrets: z.union([z.string(), z.array(z.string()).min(1).max(2)]),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, '1 to 64 of A-Z a-z 0-9 _ . -')
    .optional(),
  on: z
    .array(z.enum([...kind.options, 'custom']))
    .min(1)
    .optional(),
  content: z.boolean().optional(),
  shape: func.optional(),
  timeoutMs: z.number().positive().max(MOST_MS).optional(),
});

/** The problem with an address that this host is to connect to; undefined if it is valid. */
export function urlProblem(text: string, allowPrivate: boolean): string | undefined {
  const url = parsed(text);
  if (!url) return 'must be a URL';
  if (url.username !== '' || url.password !== '') return 'must have no user and no password';
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    return 'must be https: (plain http: only with notify.allowPrivate)';
  if (allowPrivate) return undefined;
  try {
    assertPublicHost(url);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

function parsed(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

/** The secrets of a webhook. */
export const secretsOf = ({
  secrets,
}: {
  readonly secrets: string | readonly string[];
}): readonly string[] => (typeof secrets === 'string' ? [secrets] : secrets);

/** Schema of `notify`. */
export const notifySchema = z
  .strictObject({
    on: z.array(kind).min(1).optional(),
    webhooks: z.union([webhook, z.array(webhook)]).optional(),
    push: z
      .custom(
        (value) => typeof (value as { request?: unknown } | null)?.request === 'function',
        'must be what webPush makes',
      )
      .optional(),
    deliver: func.optional(),
    runWebhooks: z.strictObject({ origins: z.array(z.string()).min(1).optional() }).optional(),
    unseenMs: z.number().nonnegative().optional(),
    allowPrivate: z.boolean().optional(),
    url: func.optional(),
  })
  .superRefine(({ webhooks = [], runWebhooks, allowPrivate = false }, { addIssue }) => {
    for (const [i, origin] of (runWebhooks?.origins ?? []).entries()) {
      const path = ['runWebhooks', 'origins', i];
      const problem =
        urlProblem(origin, allowPrivate) ??
        (new URL(origin).origin === origin ? undefined : 'must be an origin');
      if (problem !== undefined) addIssue({ code: 'custom', path, message: problem });
    }
    const list = Array.isArray(webhooks) ? webhooks : [webhooks];
    const names = new Set<string>();
    for (const [i, each] of list.entries()) {
      const at = Array.isArray(webhooks) ? ['webhooks', i] : ['webhooks'];
      const problem = urlProblem(each.url, allowPrivate);
      if (problem !== undefined) addIssue({ code: 'custom', path: [...at, 'url'], message: problem });
      for (const one of secretsOf(each)) {
        const wrong = secretProblem(one);
        if (wrong !== undefined) addIssue({ code: 'custom', path: [...at, 'secrets'], message: wrong });
      }
      const name = each.name ?? parsed(each.url)?.hostname ?? '';
      if (names.has(name))
        addIssue({ code: 'custom', path: [...at, 'name'], message: `another webhook has the name ${name}` });
      names.add(name);
    }
  });
