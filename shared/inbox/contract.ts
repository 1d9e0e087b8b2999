/** The name under which connections follow a person's inbox, beside sessions. No session has such a name. */
export const INBOX = '~inbox';

/** A session in its person's inbox. */
export interface InboxRow {
  readonly sessionId: string;
  readonly app: string;
  readonly title?: string;
  /** Ended answers and messages of others after the person's read place, as far as the person may see them. */
  readonly unread: number;
  /** Whether the app is working, or will be because a message waits. */
  readonly running: boolean;
  /** Questions that nobody has answered yet. */
  readonly waiting: number;
  /** The conversation is over, or the person may no longer see it. Remove the row. */
  readonly ended: boolean;
  /** When it was last used, in milliseconds since the epoch. */
  readonly changedAt: number;
  /** The person's read place; absent if there is none in this conversation. */
  readonly readTo?: string;
}

/** Sums over the sessions of an inbox. */
export interface InboxTotals {
  readonly unread: number;
  readonly waiting: number;
}

/** A page of an inbox, the session that was used last first. Its sums are those of the first page, however many pages follow. */
export interface InboxPage extends InboxTotals {
  readonly sessions: readonly InboxRow[];
  /** Asks for the next page; null on the last one. */
  readonly cursor: string | null;
  /** The place of the first page in the order of changes. A stream from here tells every later change. */
  readonly place: string;
}

/** A change of an inbox. */
export interface InboxChange extends InboxTotals {
  /** The changed sessions, each as a whole and in its newest state. */
  readonly sessions: readonly InboxRow[];
  /** These rows replace all earlier ones, because earlier changes are no longer known. */
  readonly reset?: true;
}

/** The read place after a `read`. */
export interface ReadResult {
  readonly sessionId: string;
  /** The place up to which the person has read, on any device. */
  readonly readTo: string;
  readonly unread: number;
}

/** The operations on an inbox and its read places. */
export interface InboxOperations {
  read: {
    params: {
      readonly sessionId: string;
      /** Everything up to here was read. @default the end of the conversation */
      readonly cursor?: string | undefined;
    };
    result: ReadResult;
  };
  inbox: {
    params: { readonly limit?: number | undefined; readonly cursor?: string | undefined };
    result: InboxPage;
  };
}

/** The properties of its operations that a client has to know (`shared/calls.ts`). */
export const INBOX_CALLS = { read: 'extra same read', inbox: 'GET' } as const;

/** The events of an inbox, which no log holds. */
export interface InboxTransients {
  /** Changes of the followed inbox, each session as a whole. The cursor is a place in the order of changes. */
  inbox: InboxChange;
}
