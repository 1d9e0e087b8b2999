/** A search in what was said. */
export interface SearchParams {
  /** Words that a message must have, each as the beginning of a word; in writing without spaces, as a part of it. */
  readonly query: string;
  /** Searches in one session. @default all that the caller may see */
  readonly sessionId?: string | undefined;
  /** Name of an app, to search in its sessions only. */
  readonly app?: string | undefined;
  /** Finds what was said from this time on, in milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** Finds what was said before this time. */
  readonly to?: number | undefined;
  /** @default 20 */
  readonly limit?: number | undefined;
  /** The `cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A message that was found. */
export interface SearchHit {
  /** The caller's name for the session. */
  readonly sessionId: string;
  readonly app: string;
  /** The session's title, if it has one. */
  readonly title?: string;
  readonly messageId: string;
  readonly role: 'user' | 'assistant';
  /** When it was said, in milliseconds since the epoch. */
  readonly at: number;
  /** The place in the session's log at which the message was shown. */
  readonly cursor: string;
  /** The part of its text where the words are. */
  readonly snippet: string;
  /** The places of the words in the snippet: begin and end of each, in units of UTF-16. */
  readonly marks: readonly (readonly [begin: number, end: number])[];
}

/** A page of what was found, the best first. */
export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** Asks for the next page, also if this one is empty; null on the last one. */
  readonly cursor: string | null;
}

/** The operations of search. */
export interface SearchOperations {
  search: { params: SearchParams; result: SearchResult };
}

/** The properties of its operations that a client has to know (`shared/calls.ts`). */
export const SEARCH_CALLS = { search: 'GET' } as const;

/** Search in a session, for host code. */
export interface SearchHandle {
  /** Finds what was said in the session. */
  search(query: string, options?: Omit<SearchParams, 'query' | 'sessionId' | 'app'>): Promise<SearchResult>;
}
