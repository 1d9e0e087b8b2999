/** Encodes text that people choose, since PostgreSQL takes no NUL and no half of a character. A part of a text is encoded as the same part. */
export const toColumn = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The same for a text that may be absent. */
export const toNullable = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : toColumn(text);

export const fromColumn = (column: string): string =>
  column.includes('\\') ? (JSON.parse(`"${column}"`) as string) : column;

/** Encodes text of programs, which hardly ever needs it. */
export const packed = (text: string): string =>
  /[\0\p{Cs}]/u.test(text) ? `j${JSON.stringify(text)}` : `t${text}`;

export const unpacked = (column: string): string =>
  column[0] === 'j' ? (JSON.parse(column.slice(1)) as string) : column.slice(1);
