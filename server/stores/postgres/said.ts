import {
  keptText,
  pageOf,
  type SaidChanges,
  type SaidPage,
  type SaidQuery,
  type SaidWithin,
} from '../said.js';
import type { LogRef, SessionRef } from '../stored.js';
import { fromColumn, toColumn } from '../text-column.js';
import { bare, indexedWords, isBeginning, placeWord } from '../words.js';
import type { PostgresDatabase } from './database.js';
import { refOf } from './rows.js';
import type { SessionIds } from './sessions.js';

const ofScope = (scope: string): string => placeWord('s', scope);
const ofApp = (scope: string, app: string): string => placeWord('a', scope, app);
const ofLog = (log: number): string => `_l${log}`;

/** Changes of what is found of a log, as the append takes them. */
export function saidToPut({ scope, app }: SessionRef, log: number, { from, put }: SaidChanges) {
  const places = [ofScope(scope), ofApp(scope, app), ofLog(log)];
  const told = put.filter(({ text }) => text !== '');
  const gone = put.filter(({ text }) => text === '').map(({ depth }) => depth);
  return {
    ...(from !== undefined && { from }),
    ...(gone.length > 0 && { gone }),
    put: told.map(({ depth, messageId, role, at, text }) => {
      const kept = keptText(text);
      // Words are letters, marks and digits, so none has to be quoted.
      const words = [...places, ...indexedWords(kept)].join(' ');
      return { depth, message: toColumn(messageId), role, at, text: toColumn(kept), words };
    }),
  };
}

/** Finds what conversations show. */
export async function findSaid(
  { database, sessions }: { readonly database: PostgresDatabase; readonly sessions: SessionIds },
  query: SaidQuery,
): Promise<SaidPage> {
  const { within, words, limit, before = Number.MAX_SAFE_INTEGER } = query;
  const placeOf = async (each: SaidWithin): Promise<string | null> => {
    if (each.epoch === undefined)
      return each.app === undefined ? ofScope(each.scope) : ofApp(each.scope, each.app);
    const id = await sessions.idOf(each as LogRef);
    return id === null ? null : ofLog(id);
  };
  const places: string[] = [];
  for (const each of within) {
    const place = await placeOf(each);
    if (place !== null) places.push(`'${place}'`);
  }
  if (places.length === 0 || words.length === 0) return { hits: [], next: null };
  const asked = words.map((word) => (isBeginning(word) ? `'${bare(word)}':*` : `'${word}'`));
  const match = `(${places.join(' | ')}) & ${asked.join(' & ')}`;
  const rows = await database.ask('SELECT * FROM $S.find_said($1::tsquery, $2, $3)', match, before, limit);
  const found = rows.map((row) => ({
    place: row.v_id as number,
    ref: refOf(row),
    epoch: row.epoch as string,
    messageId: fromColumn(row.message),
    role: row.role as 'user' | 'assistant',
    at: row.at as number,
    seq: row.seq as number,
    term: row.term as number,
    text: fromColumn(row.text),
  }));
  return pageOf(found, query);
}
