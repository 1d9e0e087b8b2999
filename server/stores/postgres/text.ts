/** Encodes text of programs, which hardly ever needs it. */
export const packed = (text: string): string =>
  /[\0\p{Cs}]/u.test(text) ? `j${JSON.stringify(text)}` : `t${text}`;

export const unpacked = (column: string): string =>
  column[0] === 'j' ? (JSON.parse(column.slice(1)) as string) : column.slice(1);
