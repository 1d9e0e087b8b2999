import { createHash } from 'node:crypto';
import { cut, shown } from '../../../shared/cut.js';
import { GatewayError } from '../../../shared/errors.js';
import { CAUSE_TITLES } from '../../../shared/features.js';
import type { NoticeKind, PushBody, ToldNotice } from '../../../shared/notices/contract.js';
import type { PushSender } from '../../../shared/notices/options.js';

/** Options of `webPush`. */
export interface WebPushOptions {
  /** The contact for push services: a `mailto:` or `https:` URL. */
  readonly subject: string;
  /** A key pair in base64url, as `npx web-push generate-vapid-keys` makes. Browsers that subscribed with another pair get no more pushes. */
  readonly vapidKeys: { readonly publicKey: string; readonly privateKey: string };
  /** How long a push service keeps a push for a browser that is away, in seconds. @default a day */
  readonly ttlSeconds?: number | undefined;
  /** Whether a push shows the text of an answer. Pushes are encrypted for the browser. @default false */
  readonly content?: boolean | undefined;
  /** Makes the title and text of a push. @default a sentence of its kind, and the answer's text with `content` */
  readonly show?: ((notice: ToldNotice) => { readonly title: string; readonly body?: string }) | undefined;
}

const DAY_SECONDS = 86_400;
/** Longest title or text of a push, in characters. A push holds some 3,000 bytes. */
const SHOWN = 300;

const TITLES: Readonly<Record<NoticeKind, string>> = {
  run_ended: 'Your answer is there',
  input_required: 'You are asked something',
  taken_over: 'A person has taken over',
  hand_off: 'A person is asked for',
  custom: 'There is something new',
  ...CAUSE_TITLES,
};

/**
 * Sends notices to browsers, also while no page of theirs is open. Needs the package `web-push`.
 *
 * @throws GatewayError `INVALID_REQUEST` naming the option that is wrong
 *
 * @example
 * ```ts
 * const vapidKeys = { publicKey: process.env.VAPID_PUBLIC!, privateKey: process.env.VAPID_PRIVATE! };
 * const push = webPush({ subject: 'mailto:ops@example.com', vapidKeys });
 * ```
 */
export function webPush(options: WebPushOptions): PushSender {
  const { subject, vapidKeys, ttlSeconds = DAY_SECONDS, content = false, show } = options;
  assertOption(/^(?:mailto:|https:)/.test(subject), 'subject', 'must begin with mailto: or https:');
  const isKey = (key: unknown, bytes: number): boolean =>
    typeof key === 'string' && /^[\w-]+$/.test(key) && Buffer.from(key, 'base64url').length === bytes;
  assertOption(isKey(vapidKeys?.publicKey, 65), 'vapidKeys.publicKey', 'must be 65 bytes in base64url');
  assertOption(isKey(vapidKeys?.privateKey, 32), 'vapidKeys.privateKey', 'must be 32 bytes in base64url');
  return {
    publicKey: vapidKeys.publicKey,
    content,
    show: (notice) => bodyOf(notice, show?.(notice)),
    async request(target, payload) {
      const library = await load();
      const { endpoint, headers, body } = library.generateRequestDetails(target, JSON.stringify(payload), {
        vapidDetails: { subject, ...vapidKeys },
        TTL: ttlSeconds,
        // A repeated push replaces the one that still waits.
        topic: cut(createHash('sha256').update(payload.id).digest('base64url'), 32),
      });
      return { endpoint, headers: headers as Record<string, string | number>, body };
    },
  };
}

/** Loads the library with the first push, because few gateways send any. @throws GatewayError `INTERNAL` naming the package */
async function load() {
  try {
    return (await import('web-push')).default;
  } catch (cause) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: 'webPush needs the package web-push: npm install web-push',
      cause,
    });
  }
}

function bodyOf(notice: ToldNotice, own?: { readonly title: string; readonly body?: string }): PushBody {
  const { id, kind, sessionId, url, stopReason, text = '' } = notice;
  const failed = stopReason === 'error' || stopReason === 'timeout' || stopReason === 'lost';
  const { title, body = '' } = own ?? {
    title: notice.title ?? (failed ? 'Your answer has failed' : TITLES[kind]),
    body: notice.body ?? text,
  };
  return {
    ...{ id, kind, sessionId, title: cut(shown(title), SHOWN, '…'), body: cut(shown(body), SHOWN, '…') },
    ...(url !== undefined && { url }),
  };
}

function assertOption(isGood: boolean, name: string, problem: string): void {
  if (isGood) return;
  const message = `webPush: ${name} ${problem}`;
  throw new GatewayError({ code: 'INVALID_REQUEST', message, details: [{ path: name, message: problem }] });
}
