import type { Application, AppOutput, AppResult } from '../apps/application.js';
import { goesOn } from '../apps/goes-on.js';
import { idOf } from '../ids.js';
import { summaryAlone } from './compacting.js';
import type { AloneCall, RunRequest } from './live-run.js';
import type { LiveTurn } from './live-turn.js';
import type { RunScope } from './run-scope.js';
import { callTool } from './tool-call.js';
import { ToolCallError } from './tool-error.js';

/** The output of a run: of its app, or of the one thing that it does in the app's place. */
export function outputOf(scope: RunScope, turn: LiveTurn): AppOutput {
  const { compacts, calls } = scope.run.request.lane ?? {};
  if (compacts) return summaryAlone(scope, turn.history, compacts);
  if (calls) return callAlone(scope, calls);
  return scope.app.run(turn);
}

/** Whether a run that is taken up goes on from a place that its app has kept. A run without its app makes all its calls again. */
export const goesOnBy = (app: Application, { lane }: RunRequest): boolean => goesOn(app) && !lane?.calls;

/** The answer of a run that only calls a tool: the call and its result, a failure as well. */
async function callAlone(scope: RunScope, { name, input }: AloneCall): Promise<AppResult> {
  // A former process has logged a failure too, and only the end of the run was missing. Its call may have begun, and not be in the log yet.
  try {
    await callTool(scope, name, input, idOf('call', scope.runId));
  } catch (error) {
    if (!(error instanceof ToolCallError)) throw error;
  }
  return {};
}
