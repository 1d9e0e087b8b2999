import type { IncomingHttpHeaders } from 'node:http';
import type { SegmentName } from '../../../shared/segments.js';
import type { Person } from '../../auth/types.js';
import type { PluginNotes, PluginPeers } from '../plugin.js';
import type { FoundResponse } from './finding.js';
import { digest } from './places.js';

const REMEMBERED_MS = 10 * 60_000;

/**
 * Recognizes retries of the vendor's clients. They send no idempotency key, but a retry count. Only a request with a count above 0 is a
 * retry, since a user may ask the same question twice.
 */
export class ResponseRetries {
  readonly #notes: PluginNotes;
  /** Responses that are being begun here. */
  readonly #under = new Map<string, Promise<FoundResponse>>();

  constructor({ notes }: PluginPeers) {
    this.#notes = notes;
  }

  /** Begins a response, or finds (`again`) the one that an earlier try of the same request has begun. */
  async once(
    {
      headers,
      person,
      body,
    }: { readonly headers: IncomingHttpHeaders; readonly person: Person; readonly body: unknown },
    begin: () => Promise<FoundResponse>,
    again: (name: SegmentName) => Promise<FoundResponse | null>,
  ): Promise<FoundResponse> {
    const count = Number(headers['x-stainless-retry-count']);
    if (!Number.isInteger(count) || headers['idempotency-key'] !== undefined) return begin();
    const place = digest(`${person.scope}\n${person.key}\n${JSON.stringify(body)}`);
    const known = count > 0 ? await this.#known(place) : null;
    // The present credentials decide whether the retry may read the response.
    const found = known && (await again(known));
    if (found) return found;
    const begun = this.#noted(place, begin());
    this.#under.set(place, begun);
    try {
      return await begun;
    } finally {
      if (this.#under.get(place) === begun) this.#under.delete(place);
    }
  }

  async #known(place: string): Promise<SegmentName | null> {
    const under = this.#under.get(place);
    if (under) return (await under).name;
    const note = await this.#notes.get(`begun:${place}`);
    return note === null ? null : (JSON.parse(note) as SegmentName);
  }

  /** Notes a begun response before it is answered, because the next try may reach another gateway. A refused request leaves no note. */
  async #noted(place: string, response: Promise<FoundResponse>): Promise<FoundResponse> {
    const found = await response;
    await this.#notes.put(`begun:${place}`, JSON.stringify(found.name), { ttlMs: REMEMBERED_MS });
    return found;
  }
}
