import { aboutOf } from '../about.js';
import { MessageRows, withoutVersions } from '../message-rows.js';
import { firstCheckpoint, type NewSession } from '../store.js';
import { encodeRows, type RedisRows } from './rows.js';

/** The content of a new log, in the order in which the script takes it, and its size in characters. */
export async function encodeBeginning(
  rows: RedisRows,
  create: NewSession,
): Promise<{ readonly args: string[]; readonly size: number }> {
  const { epoch, userId, from, forkedFrom, title, metadata } = create;
  const { log, tip, messages = [] } = from ?? {};
  const limit = Number.POSITIVE_INFINITY;
  const path = log && tip !== undefined ? await rows.path(log, { tip, limit }) : [];
  const all = [...path, ...messages].map(withoutVersions);
  const size = new MessageRows().put(all);
  const state = firstCheckpoint({
    tip: all.at(-1)?.id,
    messageCount: all.length,
    ...(title !== undefined && { title }),
    ...(metadata && { metadata }),
  });
  const about = aboutOf({ ...state.state, messages: all });
  const fields = [
    ...['mz', String(size), 'ab', JSON.stringify(about)],
    ...(userId === undefined ? [] : ['uid', userId]),
    ...(forkedFrom ? ['fk', JSON.stringify(forkedFrom)] : []),
  ];
  const checkpoint = from || title !== undefined || metadata ? JSON.stringify(state) : '';
  return { args: [epoch, String(fields.length / 2), ...fields, checkpoint, ...encodeRows(all)], size };
}
