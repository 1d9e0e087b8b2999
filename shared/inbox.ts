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

/** A page of an inbox, the session that was used last first. */
export interface InboxPage extends InboxTotals {
  readonly sessions: readonly InboxRow[];
  /** Asks for the next page; null on the last one. */
  readonly cursor: string | null;
  /** The place of this page in the order of changes. A stream from here tells every later change. */
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
