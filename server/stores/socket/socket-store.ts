import type { Socket } from 'node:net';
import { type AppendResult, StoreError } from '../append.js';
import { CHANGES, CHORES, membersOf, READS } from '../members.js';
import { place } from '../placed.js';
import type { SharedStore } from '../shared-store.js';
import type { Acquired, Store } from '../store.js';
import { ServedLogs } from './held-logs.js';
import { LineWatches } from './line-watches.js';
import { LineMembers } from './membership.js';
import { StoreLine } from './store-line.js';

/** A store that another process keeps. @param connect Begins a connection to that process */
export function storeOverLine(connect: () => Socket): Store {
  const held = new ServedLogs();
  const line: StoreLine = new StoreLine(connect, {
    stands(isOther) {
      // First of all: later calls need the logs to be held.
      held.stands(isOther, (ref, options) => call('acquire', ref, options) as Promise<Acquired>);
      members.stands();
      watches.stands();
    },
    mail: (holder, message) => members.hear(holder, message),
    wake: (key, news) => watches.wake(key, news),
  });
  const members = new LineMembers(line);
  const watches = new LineWatches(line);
  const call = (name: string, ...args: readonly unknown[]): Promise<unknown> => line.call(name, args);
  const asked =
    (name: string) =>
    (...args: readonly unknown[]): Promise<unknown> =>
      line.call(name, args);
  /** Gateways of this process that share the line. */
  let users = 0;
  let opening: Promise<void> | null = null;

  const shared: SharedStore = {
    get leaseMs() {
      return line.welcome?.leaseMs ?? DEFAULT_LEASE_MS;
    },
    skewMs: 0,
    join: (member) => members.join(member, shared.leaseMs),
    held: asked('held') as SharedStore['held'],
  };
  return {
    get durability() {
      return line.welcome?.durability ?? 'process';
    },
    shared,
    async open() {
      opening ??= line.open();
      try {
        await opening;
        users += 1;
      } catch (error) {
        opening = null;
        throw error;
      }
    },
    close() {
      users = Math.max(0, users - 1);
      if (users > 0) return;
      opening = null;
      held.clear();
      members.end();
      watches.clear();
      line.close();
    },
    ...membersOf(READS, asked),
    ...membersOf(CHANGES, asked),
    ...membersOf(CHORES, asked),
    // A function cannot go over the line. Gateways tell one another that a session was taken.
    async acquire(ref, { taken: _, ...options }) {
      const acquired = (await call('acquire', ref, options)) as Acquired;
      held.taken(ref, options.holder, acquired);
      return acquired;
    },
    async release(ref, term) {
      held.ended(ref, term);
      await call('release', ref, term);
    },
    async append(log, events, options) {
      if (held.sends(log, events, options))
        throw new StoreError(
          'ROLLED_BACK',
          'The process that keeps the store was started again and has lost this log',
        );
      const result = (await call('append', log, events, options)) as AppendResult;
      held.sent(log, options, result);
      if (!result.duplicate && !result.stale) place(events, result.first, options.term);
      return result;
    },
    watch: (ref, wake) => watches.watch(ref, wake),
  };
}

/** How long a silent member counts as alive, in milliseconds. */
export const DEFAULT_LEASE_MS = 5000;
