/** The name under which connections follow a person's inbox, beside sessions: no session has one like it. */
export const INBOX = '~inbox';

/** A session as its person's inbox has it. */
export interface InboxRow {
  readonly sessionId: string;
  readonly app: string;
  readonly title?: string;
  /** Answers that have ended and messages of others, behind the person's read place, of what is shown. */
  readonly unread: number;
  /** Whether the app is at work, or will be: a message waits. */
  readonly running: boolean;
  /** Questions that nobody has answered yet. */
  readonly waiting: number;
  /** The conversation is over, or the person may not see it any more: the row goes. */
  readonly ended: boolean;
  /** When it was last used, in milliseconds since the epoch. */
  readonly changedAt: number;
  /** The person's read place; absent where there is none in this conversation. */
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
  /** Asks for the next page; null where there are no more. */
  readonly cursor: string | null;
  /** The place of this page in the order of changes: a stream from here tells of every later one. */
  readonly place: string;
}

/** What has changed in an inbox. */
export interface InboxChange extends InboxTotals {
  /** Each as a whole, the newest state of it. */
  readonly sessions: readonly InboxRow[];
  /** These take the place of all that was known: what came before can't be told any more. */
  readonly reset?: true;
}

/** A read place as it is after a `read`. */
export interface ReadResult {
  readonly sessionId: string;
  /** Up to where the person has read, on whichever device. */
  readonly readTo: string;
  readonly unread: number;
}
