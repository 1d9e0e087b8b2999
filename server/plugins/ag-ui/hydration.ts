import type { AgUiInterrupt } from '../../../shared/ag-ui/events.js';
import { toTanStackMessages } from '../../../shared/ag-ui/tanstack.js';
import { AgUiWriter } from '../../../shared/ag-ui/writer.js';
import type { SessionState } from '../../../shared/fold.js';
import { openQuestions } from '../../../shared/subagents.js';
import { currentRun } from '../conversation/conversation.js';
import { stateOf } from '../conversation/state.js';
import type { PluginSession } from '../plugin.js';
import { ownRunId, TANSTACK } from './runs.js';
import { askAgain } from './segment.js';

const PAGE = 100;

/** The first state of a page: the messages so far, and the active run or its open questions. */
export async function hydration(
  session: PluginSession,
  { threadId, query }: { readonly threadId: string; readonly query: URLSearchParams },
): Promise<object> {
  const state = await stateOf(session);
  if (!state) return { messages: [], activeRun: null, interrupts: null };
  const limit = query.get('limit');
  const before = query.get('before');
  const page = await session.history({
    limit: limit === null ? PAGE : Number(limit),
    ...(before !== null && { before }),
  });
  const active = before === null ? currentRun(state) : undefined;
  const runId = active === undefined ? null : ownRunId(session, active);
  const pending = runId === null ? [] : interruptsIn(state, { threadId, runId });
  const said = pending.length > 0 && state.run ? [...page.messages, state.run.message] : page.messages;
  return {
    messages: toTanStackMessages(said),
    activeRun: runId !== null && pending.length === 0 ? { runId } : null,
    interrupts: pending.length > 0 ? { runId, pending } : null,
    page: page.cursor === null ? { truncated: false } : { truncated: true, cursor: page.cursor },
  };
}

/** The open confirmations of the active run and its child runs. */
function interruptsIn(
  state: SessionState,
  names: { readonly threadId: string; readonly runId: string },
): readonly AgUiInterrupt[] {
  const open = openQuestions(state).filter(({ kind }) => kind === 'confirmation');
  const writer = new AgUiWriter({ ...names, ...TANSTACK }, { tellsAnswers: false });
  const [finished] = askAgain(writer, open).end;
  return finished?.type === 'RUN_FINISHED' && finished.outcome.type === 'interrupt'
    ? finished.outcome.interrupts
    : [];
}
