import { GatewayError } from '../../../shared/errors.js';

/** The value of a column. */
export type Value = string | number | null | Uint8Array;
export type SqliteRow = Readonly<Record<string, Value>>;

/** A prepared statement. */
export interface Statement {
  run(...values: Value[]): void;
  get(...values: Value[]): SqliteRow | undefined;
  all(...values: Value[]): SqliteRow[];
}

/** The part of an SQLite driver that the store uses. All calls are synchronous. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** Opens a database file, which must exist. */
export type SqliteDriver = (path: string) => SqliteDatabase;

interface Native {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: unknown[]): unknown;
    get(...values: unknown[]): unknown;
    all(...values: unknown[]): unknown;
  };
  close(): void;
}

/**
 * Finds SQLite: Node's own if it has it, else `libsql`.
 *
 * @throws GatewayError `STORE_FAILED` naming the package to install
 */
export async function loadDriver(): Promise<SqliteDriver> {
  const Builtin = builtin();
  if (Builtin) return (path) => new Builtin(path);
  try {
    const { default: Libsql } = (await import('libsql')) as unknown as {
      default: new (path: string) => Native;
    };
    return (path) => adapt(new Libsql(path));
  } catch (cause) {
    throw new GatewayError({
      code: 'STORE_FAILED',
      message:
        'sqliteStore needs the package libsql on this version of Node.js: npm install libsql, or use Node.js 22.13 or later',
      details: { reason: 'driver' },
      cause,
    });
  }
}

/** `node:sqlite`; null before Node 22.13. */
function builtin(): (new (path: string) => SqliteDatabase) | null {
  const { emitWarning } = process;
  // Node warns that this module is experimental. The choice is ours and no concern of our users.
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes('SQLite is an experimental feature'))
      emitWarning.call(process, warning, ...rest);
  }) as typeof emitWarning;
  try {
    const found = process.getBuiltinModule?.('node:sqlite' as 'node:fs') as unknown as
      | { DatabaseSync?: new (path: string) => SqliteDatabase }
      | undefined;
    return found?.DatabaseSync ?? null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Node's variadic form takes a lone null for an object of named parameters. */
function adapt(native: Native): SqliteDatabase {
  return {
    exec: (sql) => native.exec(sql),
    prepare(sql) {
      const statement = native.prepare(sql);
      return {
        run: (...values) => void statement.run(values),
        // After an `all` that found nothing, libsql's own `get` finds nothing either.
        get: (...values) => (statement.all(values) as SqliteRow[])[0],
        all: (...values) => statement.all(values) as SqliteRow[],
      };
    },
    close: () => native.close(),
  };
}
