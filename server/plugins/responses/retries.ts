import type { IncomingHttpHeaders } from 'node:http';
import type { SegmentName } from '../../../shared/segments.js';
import type { Identity } from '../../auth/types.js';
import type { PluginPeers } from '../plugin.js';
import type { FoundResponse } from './finding.js';
import { digest } from './places.js';

const REMEMBERED_MS = 10 * 60_000;
const MAX_REMEMBERED = 10_000;

/**
 * Requests of the vendor's clients that come again. They bring no key, but say how often they have tried: only what says that it is a
 * retry is taken for one, since two equal questions are two.
 */
export class Retries {
  readonly #peers: PluginPeers | null;
  readonly #begun = new Map<string, { readonly at: number; readonly response: Promise<FoundResponse> }>();

  constructor(peers: PluginPeers | null) {
    this.#peers = peers;
  }

  /** Begins a response, or finds (`again`) the one that an earlier try of the same request has begun. */
  async once(
    {
      headers,
      identity,
      body,
    }: { readonly headers: IncomingHttpHeaders; readonly identity: Identity; readonly body: unknown },
    begin: () => Promise<FoundResponse>,
    again: (name: SegmentName) => Promise<FoundResponse | null>,
  ): Promise<FoundResponse> {
    const count = Number(headers['x-stainless-retry-count']);
    if (!Number.isInteger(count) || headers['idempotency-key'] !== undefined) return begin();
    const place = digest(`${identity.scope}\n${identity.userKey}\n${JSON.stringify(body)}`);
    const known = this.#begun.get(place);
    if (count > 0 && known && Date.now() - known.at <= REMEMBERED_MS) {
      // By the credentials that it brings now.
      const found = await again((await known.response).name);
      if (found) return found;
    }
    const elsewhere = count > 0 && !known ? await this.#begunElsewhere(place) : null;
    if (elsewhere) {
      const found = await again(elsewhere);
      if (found) return found;
    }
    const response = this.#peers ? this.#noted(place, begin(), this.#peers) : begin();
    this.#begun.delete(place);
    const entry = { at: Date.now(), response };
    this.#begun.set(place, entry);
    this.#forget();
    // What was refused is not begun.
    response.catch(() => {
      if (this.#begun.get(place) === entry) this.#begun.delete(place);
    });
    return response;
  }

  async #begunElsewhere(place: string): Promise<SegmentName | null> {
    const note = await this.#peers?.notes.get(`begun:${place}`);
    return note ? (JSON.parse(note) as SegmentName) : null;
  }

  /** Notes what was begun before it is told: the next try may come to another gateway. */
  async #noted(
    place: string,
    response: Promise<FoundResponse>,
    { notes }: PluginPeers,
  ): Promise<FoundResponse> {
    const found = await response;
    await notes.put(`begun:${place}`, JSON.stringify(found.name), { ttlMs: REMEMBERED_MS });
    return found;
  }

  #forget(): void {
    const now = Date.now();
    for (const [place, { at }] of this.#begun) {
      if (this.#begun.size <= MAX_REMEMBERED && now - at <= REMEMBERED_MS) return;
      this.#begun.delete(place);
    }
  }
}
