import type { IncomingHttpHeaders } from 'node:http';
import { cut } from '../../../shared/cut.js';
import type { Person } from '../../auth/types.js';
import { digestOf } from '../../ids.js';
import type { PluginNotes, PluginPeers } from '../plugin.js';

const REMEMBERED_MS = 10 * 60_000;

/** A request that its client may send again. */
export interface RetriedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly person: Person;
  /** Distinguishes it from others. */
  readonly body: unknown;
}

/**
 * Recognizes retries of vendors' clients. They send no idempotency key, but a retry count. Only a request with a count above 0 is a
 * retry, since a user may ask the same question twice. `Kept` is a plain value, so that another gateway may know it.
 */
export class ClientRetries<Result, Kept> {
  readonly #notes: PluginNotes;
  readonly #keep: (result: Result) => Kept;
  /** Requests that are being performed here. */
  readonly #under = new Map<string, Promise<Result>>();

  constructor({ notes }: PluginPeers, keep: (result: Result) => Kept) {
    this.#notes = notes;
    this.#keep = keep;
  }

  /** Performs a request, or finds (`again`) what an earlier try of it has led to. */
  async once(
    { headers, person, body }: RetriedRequest,
    begin: () => Promise<Result>,
    again: (kept: Kept) => Promise<Result | null>,
  ): Promise<Result> {
    const count = Number(headers['x-stainless-retry-count']);
    if (!Number.isInteger(count) || headers['idempotency-key'] !== undefined) return begin();
    const place = cut(digestOf(`${person.scope}\n${person.key}\n${JSON.stringify(body)}`), 32);
    const known = count > 0 ? await this.#known(place) : null;
    // The present credentials decide whether the retry may read the result.
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

  async #known(place: string): Promise<Kept | null> {
    const under = this.#under.get(place);
    if (under) return this.#keep(await under);
    const note = await this.#notes.get(`begun:${place}`);
    return note === null ? null : (JSON.parse(note) as Kept);
  }

  /** Notes a result before it is answered, because the next try may reach another gateway. A refused request leaves no note. */
  async #noted(place: string, performed: Promise<Result>): Promise<Result> {
    const result = await performed;
    const note = JSON.stringify(this.#keep(result));
    await this.#notes.put(`begun:${place}`, note, { ttlMs: REMEMBERED_MS });
    return result;
  }
}
