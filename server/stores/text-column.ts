/** Text that JSON writes otherwise than it is. */
const ESCAPED = /["\\\p{Cs}\p{Cc}]/u;

/**
 * Encodes text that people choose for a column of a database: databases and their drivers take no NUL and no half of a character, or cut the text
 * there. A part of a text is encoded as the same part.
 */
export const toColumn = (text: string): string =>
  ESCAPED.test(text) ? JSON.stringify(text).slice(1, -1) : text;

/** The same for a text that may be absent. */
export const toNullable = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : toColumn(text);

export const fromColumn = (column: string): string =>
  column.includes('\\') ? (JSON.parse(`"${column}"`) as string) : column;
