import { cut } from '../../shared/cut.js';
import { isFailure } from '../../shared/failure.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import { textOf } from '../../shared/messages.js';

/** Length of a preview, in characters. */
const PREVIEW = 160;
/** Messages that are searched for text, from the last one back. */
export const PREVIEWED = 10;

/** Counts of new things to read in a log. They only grow, so a difference tells the number behind a place. */
export interface Arrivals {
  /** Ended answers, and messages of people in a session of several, since the log began. */
  readonly count: number;
  /** Place of the last arrival; 0 before the first. */
  readonly last: number;
  /** Place of the last event that removed an arrival or showed another path; 0 if there is none. */
  readonly rewound: number;
  /** Time of the last change to the session's entry in lists, in milliseconds since the epoch by the store's clock. */
  readonly changedAt: number;
}

/** The entry of a session in a list, as far as its folded state determines it. */
export interface About {
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Absent: not archived. */
  readonly archived?: boolean;
  /** The beginning of the last message that has text. */
  readonly preview?: string;
  /** Messages of the path that is shown. */
  readonly messageCount: number;
  /** Questions that nobody has answered yet. */
  readonly pending: number;
  /** Absent: the last message is no answer that failed. */
  readonly failed?: true;
  /** Absent: nothing has arrived, and nothing was changed since the session began. */
  readonly arrivals?: Arrivals;
}

/** Makes the list entry of a session from its folded state. */
export function aboutOf({ title, metadata, archived, messages, messageCount, pending }: SessionState): About {
  const preview = previewOf(messages);
  return {
    messageCount,
    pending: pending.length,
    ...(isFailure(messages.at(-1)?.stopReason) && { failed: true }),
    ...(title !== undefined && { title }),
    ...(metadata && { metadata }),
    ...(archived && { archived }),
    ...(preview !== '' && { preview }),
  };
}

/** The list entry of a session without messages. */
export const ABOUT_NOTHING: About = Object.freeze(aboutOf(initialState));

function previewOf(messages: SessionState['messages']): string {
  const last = Math.max(0, messages.length - PREVIEWED);
  for (let i = messages.length - 1; i >= last; i--) {
    // Cut first: a preview shows only the beginning of a long text.
    const text = cut(textOf(messages[i]!), 8 * PREVIEW)
      .replace(/\s+/gu, ' ')
      .trim();
    if (text !== '') return cut(text, PREVIEW, '…');
  }
  return '';
}

/** A title, or a part of one, in the form that searches compare: letter case and Unicode variants are equal. */
export function searched(title: string): string {
  return title.normalize('NFKC').toLowerCase();
}
