import type { NoticeKind, ToldNotice, WebhookBody } from '../../../shared/notices/contract.js';
import type { ShapedWebhook, WebhookOptions } from '../../../shared/notices/options.js';
import type { LaneBound } from '../../due/bounded-lanes.js';
import { signatureOf } from '../../runtime/signature.js';
import { Poster } from './post-request.js';
import { secretsOf } from './schema.js';
import type { Attempt, NoticeTarget } from './target.js';

const TIMEOUT_MS = 10_000;
/** Requests to one receiver at a time. */
const MOST = 16;

/** The target that sends signed requests to one receiver. */
export class WebhookTarget implements NoticeTarget {
  readonly name: string;
  readonly givenName: string | undefined;
  readonly content: boolean;
  readonly timeoutMs: number;
  readonly #options: WebhookOptions;
  readonly #url: URL;
  readonly #poster: Poster;
  readonly #kinds: ReadonlySet<NoticeKind> | null;

  constructor(options: WebhookOptions, allowPrivate: boolean) {
    const { url, name, content = false, timeoutMs = TIMEOUT_MS, on } = options;
    this.#options = options;
    this.#url = new URL(url);
    this.givenName = name;
    this.name = `webhook:${name ?? this.#url.hostname}`;
    this.content = content;
    this.timeoutMs = timeoutMs;
    this.#kinds = on ? new Set(on) : null;
    this.#poster = new Poster({ allowPrivate, most: MOST });
  }

  bounds(): readonly LaneBound[] {
    return [{ name: this.name, most: MOST }];
  }

  wants(kind: NoticeKind): boolean {
    return this.#kinds?.has(kind) ?? true;
  }

  async send({ told, events, signal }: Attempt): Promise<boolean> {
    const { shape = shapeOf } = this.#options;
    const shaped = await shape(told, events);
    if (!shaped) return false;
    const { id, mediaType = 'application/json' } = shaped;
    const body = JSON.stringify(shaped.body);
    const timestamp = Math.floor(Date.now() / 1000);
    const signatures = secretsOf(this.#options).map((secret) => signatureOf({ id, timestamp, body }, secret));
    const headers = {
      'content-type': mediaType,
      'user-agent': 'agent-session-gateway',
      'webhook-id': id,
      'webhook-timestamp': `${timestamp}`,
      'webhook-signature': signatures.join(' '),
    };
    await this.#poster.post({ url: this.#url, headers, body, signal });
    return true;
  }

  close(): void {
    this.#poster.close();
  }
}

function shapeOf(told: ToldNotice): ShapedWebhook {
  const body: WebhookBody = { type: told.kind, timestamp: new Date(told.at).toISOString(), data: told };
  return { id: told.id, body };
}
