import { initialState, type SessionState } from '../../shared/fold.js';
import { textOf } from '../../shared/messages.js';

/** Length of a preview, in characters. */
const PREVIEW = 160;
/** Messages that are looked at for one that has text. */
export const PREVIEWED = 10;

/** What came in a log for people to read: monotone counts, so that what is behind a place is a difference. */
export interface Arrivals {
  /** Answers that ended and messages of one of several people, since the log began. */
  readonly count: number;
  /** Place of the last of them; 0 before the first. */
  readonly last: number;
  /** Place of the last event that took one of them away, or showed another path; 0 where none has. */
  readonly rewound: number;
  /** When what lists say was last changed, in milliseconds since the epoch by the store's clock. */
  readonly changedAt: number;
}

/** What a list of sessions says of one, as its folded state has it. */
export interface About {
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Absent: it is not. */
  readonly archived?: boolean;
  /** The beginning of the last message that has text. */
  readonly preview?: string;
  /** Messages of the path that is shown. */
  readonly messageCount: number;
  /** Questions that nobody has answered yet. */
  readonly pending: number;
  /** Absent: nothing has arrived, and nothing was changed since the session began. */
  readonly arrivals?: Arrivals;
}

/** What a list says of a session, by its folded state. */
export function aboutOf({ title, metadata, archived, messages, messageCount, pending }: SessionState): About {
  const preview = previewOf(messages);
  return {
    messageCount,
    pending: pending.length,
    ...(title !== undefined && { title }),
    ...(metadata && { metadata }),
    ...(archived && { archived }),
    ...(preview !== '' && { preview }),
  };
}

/** What a list says of a session in which nothing was said. */
export const ABOUT_NOTHING: About = Object.freeze(aboutOf(initialState));

function previewOf(messages: SessionState['messages']): string {
  const last = Math.max(0, messages.length - PREVIEWED);
  for (let i = messages.length - 1; i >= last; i--) {
    // What comes far behind is not seen, and is not to be looked through.
    const text = textOf(messages[i]!)
      .slice(0, 8 * PREVIEW)
      .replace(/\s+/gu, ' ')
      .trim();
    if (text !== '') return cut(text);
  }
  return '';
}

function cut(text: string): string {
  if (text.length <= PREVIEW) return text;
  const cutText = text.slice(0, PREVIEW - 1);
  // Half of a character is none.
  return `${/[\ud800-\udbff]$/.test(cutText) ? cutText.slice(0, -1) : cutText}…`;
}

/** A title, or a part of one, as it is compared: without regard to capitals and ways of writing a letter. */
export function searched(title: string): string {
  return title.normalize('NFKC').toLowerCase();
}
