import { useEffect, useMemo, useSyncExternalStore } from 'react';
import {
  createSearchStore,
  type SearchStore,
  type SearchView,
  type SearchViewOptions,
} from '../hooks/search-store.js';
import { useGateway } from './provider.js';

/** Searches in what was said, for the words of a field as they are typed. */
export function useSearch(
  query: string,
  options: SearchViewOptions = {},
): SearchView & Pick<SearchStore, 'more'> {
  const client = useGateway();
  const store = useMemo(() => createSearchStore(client), [client]);
  const view = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
  const asked = JSON.stringify(options);
  useEffect(() => store.ask(query, JSON.parse(asked) as SearchViewOptions), [store, query, asked]);
  const { more } = store;
  return useMemo(() => ({ ...view, more }), [view, more]);
}
