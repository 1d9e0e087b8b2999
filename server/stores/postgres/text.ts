/** Text that people choose, as columns have it: PostgreSQL takes no NUL, and no half of a character. A part of it is written as the same part. */
export const toColumn = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The same, where there may be none. */
export const toNullable = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : toColumn(text);

export const fromColumn = (column: string): string =>
  column.includes('\\') ? (JSON.parse(`"${column}"`) as string) : column;

/** Text of programs, which is nearly always taken as it is. */
export const packed = (text: string): string =>
  /[\0\p{Cs}]/u.test(text) ? `j${JSON.stringify(text)}` : `t${text}`;

export const unpacked = (column: string): string =>
  column[0] === 'j' ? (JSON.parse(column.slice(1)) as string) : column.slice(1);
