import type { SearchHit, SearchParams } from '../../shared/search/contract.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import { clientSearch } from '../search/index.js';
import type { Observable } from './session-store.js';

/** The options of a search that is shown. */
export type SearchViewOptions = Omit<SearchParams, 'query' | 'cursor'>;

/** The findings of a search, for display. */
export interface SearchView {
  /** The best first. */
  readonly hits: readonly SearchHit[];
  /** The error if it could not be searched. */
  readonly error?: unknown;
  readonly isLoading: boolean;
  /** Whether there may be more. */
  readonly hasMore: boolean;
}

/** A search as an interface reads it. */
export interface SearchStore extends Observable<SearchView> {
  /** Searches for the text of a field, once it has not changed for a moment. An empty text finds nothing. */
  ask(query: string, options?: SearchViewOptions): void;
  /** Finds more. */
  more(): void;
}

const NOTHING: SearchView = { hits: [], isLoading: false, hasMore: false };
/** Pause in typing after which a query is asked, in milliseconds. */
const PAUSE_MS = 150;

/** A search in what was said. The answer of an earlier query never replaces that of a later one. */
export function createSearchStore(client: Client<any>): SearchStore {
  const search = clientSearch(client);
  let view = NOTHING;
  const listeners = new Set<() => void>();
  let asking: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again: (() => void) | null = null;
  const show = (next: SearchView): void => {
    view = next;
    for (const listener of listeners) listener();
  };
  const end = (): void => {
    clearTimeout(timer);
    asking?.abort();
    asking = null;
    again = null;
  };
  const find = async (query: string, options: SearchViewOptions, cursor?: string): Promise<void> => {
    const controller = new AbortController();
    asking = controller;
    again = null;
    try {
      const { hits, cursor: next } = await search(query, { ...options, cursor, signal: controller.signal });
      if (asking !== controller) return;
      const all = cursor === undefined ? hits : [...view.hits, ...hits];
      // A store without an index may have found nothing yet.
      if (next !== null) again = () => void find(query, options, next);
      show({ hits: all, isLoading: false, hasMore: next !== null });
    } catch (error) {
      if (asking === controller) show({ ...view, error, isLoading: false, hasMore: false });
    }
  };
  // Another person must not read what this one has found.
  coreOf.get(client)!.person.subscribe(() => {
    end();
    show(NOTHING);
  });
  return {
    getSnapshot: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) end();
      };
    },
    ask(query, options = {}) {
      end();
      if (query.trim() === '') return show(NOTHING);
      show({ ...view, isLoading: true });
      timer = setTimeout(() => void find(query, options), PAUSE_MS);
    },
    more() {
      if (!again) return;
      show({ ...view, isLoading: true });
      again();
    },
  };
}
