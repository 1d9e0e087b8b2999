import type { NoticeKind } from '../../../shared/notices/contract.js';
import type { NotifyOptions, WebhookShape } from '../../../shared/notices/options.js';
import type { LaneBound } from '../../due/bounded-lanes.js';
import type { Store } from '../../stores/store.js';
import type { KeptDelivery } from './notice-record.js';
import { isOver, Poster } from './post-request.js';
import { addressProblem, RUN_WEBHOOKS, targetOfForm } from './run-webhooks.js';
import { type Attempt, boundsOfAddress, Gone, MOST_TO_HOST, type NoticeTarget } from './target.js';

/** Requests at a time for one person. */
const MOST_OF_PERSON = 4;

/** The target that tells callers' own addresses of their runs, in the form of one plugin. */
export class RunWebhookTarget implements NoticeTarget {
  readonly name: string;
  readonly content = false;
  readonly timeoutMs = 10_000;
  readonly atOnce = true;
  readonly #shape: WebhookShape;
  readonly #options: NotifyOptions;
  readonly #store: Pick<Store, 'records' | 'changeRecords'>;
  readonly #poster: Poster;

  constructor(
    { form, shape }: { readonly form: string; readonly shape: WebhookShape },
    options: NotifyOptions,
    store: Pick<Store, 'records' | 'changeRecords'>,
  ) {
    this.name = targetOfForm(form);
    this.#shape = shape;
    this.#options = options;
    this.#store = store;
    this.#poster = new Poster({ allowPrivate: options.allowPrivate ?? false, most: MOST_TO_HOST });
  }

  bounds(kept: KeptDelivery): readonly LaneBound[] {
    return boundsOfAddress(this.name, kept, MOST_OF_PERSON);
  }

  wants(kind: NoticeKind): boolean {
    return kind === 'run_ended' || kind === 'input_required';
  }

  async send({ home, kept: { endpoint, to }, told, events, signal }: Attempt): Promise<boolean> {
    const found = endpoint && (await RUN_WEBHOOKS.one(this.#store, home, endpoint.id));
    if (found?.value.userKey !== to) throw new Gone('The webhook was removed');
    const { url, headers } = found.value;
    const problem = addressProblem(url, this.#options);
    if (problem !== undefined) throw new Gone(`The host allows the address no more: it ${problem}`);
    const shaped = await this.#shape(told, events);
    if (!shaped) return false;
    const { id, body, mediaType = 'application/json' } = shaped;
    const own = { 'content-type': mediaType, 'user-agent': 'agent-session-gateway', 'webhook-id': id };
    const drop = () => this.#store.changeRecords(home, [RUN_WEBHOOKS.drop(found.id)], { mayRepeat: true });
    try {
      await this.#poster.post({
        ...{ url: new URL(url), body: JSON.stringify(body), signal },
        headers: { ...headers, ...own },
      });
    } catch (error) {
      if (!isOver(error)) throw error;
      await drop();
      throw new Gone('The receiver says that it is there no more');
    }
    // Nothing more happens in the run.
    if (told.kind === 'run_ended') await drop();
    return true;
  }

  close(): void {
    this.#poster.close();
  }
}
