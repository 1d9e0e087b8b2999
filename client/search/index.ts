import type { SearchParams, SearchResult } from '../../shared/search/contract.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import type { SignalOptions } from '../options.js';
import { misused } from '../transport/failure.js';

export type { SearchHit, SearchParams, SearchResult } from '../../shared/search/contract.js';

/** Options of a search. */
export type SearchOptions = SignalOptions & Omit<SearchParams, 'query'>;

/** Finds what was said. */
export type ClientSearch = (query: string, options?: SearchOptions) => Promise<SearchResult>;

/**
 * Search in what was said, in all sessions that a client's user may see, or in one of them. Pass `cursor` for the next page.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const search = clientSearch(client);
 * const { hits } = await search('meeting Zürich');
 * for (const { sessionId, messageId, snippet, marks } of hits) console.log(sessionId, messageId, snippet, marks);
 * ```
 */
export function clientSearch(client: Pick<Client, 'connection'>): ClientSearch {
  const core = coreOf.get(client);
  if (!core) throw misused('clientSearch needs a client of createClient');
  return (query, options) => core.call('search', { ...options, query });
}
