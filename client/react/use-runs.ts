import { useMemo } from 'react';
import type { SessionView } from '../hooks/session-store.js';
import { type RunNode, runTree, type SessionRuns, sessionRuns } from '../runs/index.js';
import { useGateway } from './provider.js';
import { all, useSession } from './use-session.js';

/** The runs of a session as a tree, with the operations on them. */
export interface RunsView extends SessionRuns {
  readonly runs: readonly RunNode[];
}

/** The runs of a session as they go on while the component is mounted: each with its children, how it stands and what it waits for. */
export function useRuns(id: string): RunsView {
  const client = useGateway();
  const calls = useMemo(() => sessionRuns(client, id), [client, id]);
  const state = useSession(id, { select: all, isEqual: hasSameRuns });
  return useMemo(() => ({ ...calls, runs: runTree(state) }), [calls, state]);
}

const hasSameRuns = (a: SessionView, b: SessionView): boolean =>
  a.run === b.run && a.lanes === b.lanes && a.pending === b.pending;
