import type { History } from '../history.js';
import { saidOf } from '../script.js';
import { appOf, logsOf } from './facts.js';

/** An app is called once a run; of one that is resumable, more often only to go on. */
export function* judgeCalls(history: History): Generator<string> {
  const { calls, costs } = history;
  const logs = logsOf(history);
  const begun = new Map<string, string>();
  const called = new Set<string>();
  for (const { node, sessionId, runId, text, resumed } of calls) {
    const isAgain = called.has(runId);
    called.add(runId);
    const run = logs.get(sessionId)?.runs.get(runId);
    if (!run && !costs.forgotten) yield `the app of ${runId} was called at ${node}, which is in no log`;
    if (run && !run.start) yield `the app of ${runId} was called at ${node}, whose start is in no log`;
    if (run && saidOf(run.accepted.message.content).text !== text)
      yield `the app of ${runId} was called with "${text}"`;
    if (resumed && appOf(sessionId) === 'talk') yield `the run ${runId} goes on, which is not resumable`;
    // That it was called may have been forgotten.
    if (costs.forgotten) continue;
    if (!resumed && begun.has(runId))
      yield `the app of ${runId} was called at ${begun.get(runId)} and again at ${node}`;
    else if (isAgain && appOf(sessionId) === 'talk') yield `the app of ${runId} was called twice`;
    if (!resumed) begun.set(runId, node);
  }
  for (const log of logs.values()) {
    for (const { runId, end } of log.runs.values())
      if (end?.stopReason === 'end' && !called.has(runId))
        yield `${runId} ended and its app was never called`;
  }
}
