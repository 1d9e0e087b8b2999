/** The folder beside a database that files are kept in. */
export const filesOf = (path: string): string => `${path}.files`;
