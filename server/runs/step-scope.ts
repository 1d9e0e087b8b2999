import { RunOver } from './run-over.js';
import type { RunScope } from './run-scope.js';
import type { StepScope } from './steps.js';
import { atWork } from './tool-call.js';

/** The parts of a run that its steps use. */
export function stepScope(scope: RunScope, hindered: StepScope['hindered']): StepScope {
  const { runId, signal, app, port, gate } = scope;
  return {
    runId,
    signal,
    get ended() {
      return scope.ended;
    },
    durable: app.resumable === true,
    maxSize: port.setting.stepsSize,
    rehearsal: port.rehearsal,
    ...(gate?.guards('step') && {
      checked: (name: string, value: unknown) => gate.checked('step', name, value, { after: false }),
    }),
    hindered,
    atWork: (work) => atWork(scope, work),
    passed: (callIds) => {
      if (callIds.length > 0) scope.resumption?.forget(callIds);
    },
    keep: async (steps) => {
      if (scope.ended) throw new RunOver();
      await port.log.commit([], { steps });
    },
  };
}
