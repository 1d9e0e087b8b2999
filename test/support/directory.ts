import type { Limits } from '../../server/config/limits.js';
import { defineApp, type Store } from '../../server/index.js';
import { SessionDirectory } from '../../server/sessions/directory.js';
import type { SessionEnvironment } from '../../server/sessions/environment.js';

const app = defineApp({ run: () => 'x' });

/** The sessions of a process by themselves, and what they report. */
export function directoryOn(store: Store): { directory: SessionDirectory; reports: string[] } {
  const reports: string[] = [];
  const env: Omit<SessionEnvironment, 'opened' | 'unused'> = {
    ...({} as SessionEnvironment),
    store,
    holder: 'g',
    limits: {
      ...({} as Limits),
      ...{ retention: { events: 10_000, bytes: 1e9, ageMs: 1e9 }, queueLength: 32 },
      ...{ runMs: 1e6, waitMs: 1e6, answerSize: 1e6, stepsSize: 1e6, disconnectGraceMs: 1 },
    },
    sessionsIn: () => 1e9,
    kinds: [],
    takesUp: [],
    addedRecords: [],
    addedOfSender: [],
    onDisconnect: 'continue',
    now: Date.now,
    app: () => app,
    format: (_app, name) => name,
    checkPayload() {},
    notify() {},
    report: (_error, what) => reports.push(what),
  };
  return { directory: new SessionDirectory(env), reports };
}

export const refOf = (name: string) => ({ scope: 's', app: 'a', name });
