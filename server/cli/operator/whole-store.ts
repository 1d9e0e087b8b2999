import { existsSync } from 'node:fs';
import { GatewayError, isGatewayError } from 'agent-session-gateway/client';
import { copyLines } from '../../copies/read-store.js';
import { isSharedPlace, shownPlace, storeAt } from '../../runtime/store-at.js';
import type { OperatorDatabase } from './ask-operator.js';

/** The lines of a copy of all that a store has. @throws GatewayError */
export async function* wholeStore({ db }: OperatorDatabase): AsyncGenerator<string> {
  const store = await openedStore(db);
  try {
    for await (const line of copyLines(store)) yield `${JSON.stringify(line)}\n`;
  } finally {
    await store.close();
  }
}

/**
 * Opens the store at a place, for a command that no gateway may disturb.
 *
 * @param mayBegin Whether a database that is not there is made
 * @throws GatewayError
 */
export async function openedStore(db: string, mayBegin = false): ReturnType<typeof storeAt> {
  if (!mayBegin && !isSharedPlace(db) && !existsSync(db))
    throw refused(`There is no database ${db}; name it with --db`);
  const store = await storeAt(db);
  try {
    await store.open();
    return store;
  } catch (error) {
    const { reason } = (isGatewayError(error) && (error.details as { reason?: string } | undefined)) || {};
    if (reason !== 'locked') throw error;
    throw refused(
      `A process uses ${shownPlace(db)}: stop it, or copy the database with \`backup\` and use the copy`,
    );
  }
}

function refused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
