import type { NoticeKind } from '../../../shared/notices/contract.js';
import type { PushSender } from '../../../shared/notices/options.js';
import type { LaneBound } from '../../due/bounded-lanes.js';
import type { Store } from '../../stores/store.js';
import { homeOfPushes, type KeptDelivery, PUSHES } from './notice-record.js';
import { isOver, Poster } from './post-request.js';
import { dropPush } from './subscriptions.js';
import { type Attempt, boundsOfAddress, Gone, MOST_TO_HOST, type NoticeTarget } from './target.js';

/** Requests at a time for one person. */
const MOST_OF_PERSON = 2;

/** The target that pushes notices to people's browsers. */
export class BrowserTarget implements NoticeTarget {
  readonly name = 'push';
  readonly content: boolean;
  readonly timeoutMs = 10_000;
  readonly #sender: PushSender;
  readonly #store: Pick<Store, 'records' | 'changeRecords'>;
  readonly #poster: Poster;

  constructor(sender: PushSender, store: Pick<Store, 'records' | 'changeRecords'>, allowPrivate: boolean) {
    this.#sender = sender;
    this.#store = store;
    this.content = sender.content;
    this.#poster = new Poster({ allowPrivate, most: MOST_TO_HOST });
  }

  bounds(kept: KeptDelivery): readonly LaneBound[] {
    return boundsOfAddress(this.name, kept, MOST_OF_PERSON);
  }

  // The browsers belong to the session's own person, who is not asked to take over.
  wants(kind: NoticeKind): boolean {
    return kind !== 'hand_off';
  }

  async send({ kept: { endpoint, to }, told, signal }: Attempt): Promise<void> {
    const kept = endpoint && (await this.#find(to, endpoint));
    if (!kept) throw new Gone('The browser is subscribed no more');
    const { endpoint: url, headers, body } = await this.#sender.request(kept, this.#sender.show(told));
    const { 'Content-Length': _, ...others } = headers;
    try {
      await this.#poster.post({ url: new URL(url), headers: others, body, signal });
    } catch (error) {
      if (!isOver(error)) throw error;
      await dropPush(this.#store, endpoint);
      throw new Gone('The push service says that the subscription is over');
    }
  }

  async #find(owner: string, { scope, id }: { readonly scope: string; readonly id: string }) {
    const found = await PUSHES.one(this.#store, homeOfPushes(scope), id);
    return found?.value.userKey === owner ? found.value : undefined;
  }

  close(): void {
    this.#poster.close();
  }
}
