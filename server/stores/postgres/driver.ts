import type pg from 'pg';
import { GatewayError } from '../../../shared/errors.js';

export type PostgresDriver = typeof pg;
export type Pool = pg.Pool;
export type PoolClient = pg.PoolClient;
export type Client = pg.Client;
/** A row, with numbers as JavaScript numbers. */
export type PostgresRow = Readonly<Record<string, any>>;

const BIGINT = 20;

/**
 * Finds the package `pg`.
 *
 * @throws GatewayError `STORE_FAILED` naming the package to install
 */
export async function loadDriver(): Promise<PostgresDriver> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw new GatewayError({
      code: 'STORE_FAILED',
      message: 'postgresStore needs the package pg: npm install pg',
      details: { reason: 'driver' },
      cause,
    });
  }
}

/** Reads columns as text, and large integers as numbers: places, terms and times are all below 2^53. */
export function parsersOf({ types }: PostgresDriver): pg.CustomTypesConfig {
  const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT ? Number : types.getTypeParser(oid, format as 'text')) as typeof types.getTypeParser;
  return { getTypeParser };
}
