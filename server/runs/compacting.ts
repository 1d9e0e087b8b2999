import { compactionOf } from '../../shared/compaction/contract.js';
import { fieldError, GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Compaction, Message } from '../../shared/messages.js';
import type { AppResult } from '../apps/application.js';
import { type Compact, type CompactOptions, checkKeep, type MadeSummary } from '../apps/compaction.js';
import { commitPlan } from '../log/plan.js';
import { lastCovered, overThreshold } from './covered.js';
import { isOpen } from './ending.js';
import type { ShownHistory } from './live-turn.js';
import { RunOver } from './run-over.js';
import type { RunScope } from './run-scope.js';
import { summaryMessage } from './summarized.js';
import { atWork } from './tool-call.js';

/** A summary of a history, and the last message that it covers. */
export interface Cover {
  readonly messageId: string;
  readonly compaction: Compaction;
}

/** Id of the summary with which a run begins. */
export const firstSummaryOf = (runId: string): string => `${runId}-0`;

/** A history with a summary in place of the messages that it covers. */
export function withSummary(
  history: readonly Message[],
  { messageId, compaction }: Cover,
): readonly Message[] {
  const at = history.findLastIndex(({ id }) => id === messageId);
  return [summaryMessage(compaction), ...history.slice(at + 1)];
}

/** The history with which a run begins: summarized first, if that is due. Rejects once the run has ended. */
export async function historyToBegin(
  scope: RunScope,
  shown: ShownHistory,
  compact: Compact,
): Promise<ShownHistory> {
  const { run, rehearsal } = scope;
  const id = firstSummaryOf(run.id);
  const history = shown();
  // A former process has made it, or it is made elsewhere.
  if (history[0]?.compaction?.id === id || rehearsal || run.request.lane) return shown;
  try {
    if (!overThreshold(compact, history, run.request.message)) return shown;
    const cover = await atWork(scope, () => summarize(scope, history, { compact, id }));
    return cover ? () => withSummary(history, cover) : shown;
  } catch (error) {
    if (scope.ended) throw error;
    scope.report(error, 'making a summary failed, and the run goes on with the whole history');
    return shown;
  }
}

/** The compaction that an app asks for in its run. @throws GatewayError `INVALID_PARAMS` */
export function askedCompact({ app }: RunScope, { keep, make }: CompactOptions): Compact {
  checkKeep(keep, 'keep');
  const makes = make ?? app.compact?.make;
  if (typeof makes !== 'function')
    throw fieldError('make', 'must be a function, here or in the `compact` of the app');
  return { ...app.compact, ...(keep !== undefined && { keep }), make: makes };
}

/** The answer of a run that only summarizes. */
export async function summaryAlone(
  scope: RunScope,
  history: readonly Message[],
  options: CompactOptions,
): Promise<AppResult> {
  const id = firstSummaryOf(scope.runId);
  const made = history[0]?.compaction;
  if (made?.id === id) return { text: made.summary };
  const compact = askedCompact(scope, options);
  const cover = await atWork(scope, () => summarize(scope, history, { compact, id }));
  return cover ? { text: cover.compaction.summary } : {};
}

/** Has the beginning of a history summarized, and logs the summary. Null if nothing is to be covered, or the conversation has moved meanwhile. */
export async function summarize(
  scope: RunScope,
  history: readonly Message[],
  { compact, id }: { readonly compact: Compact; readonly id: string },
): Promise<Cover | null> {
  const { run, port, signal, user, session } = scope;
  const covered = lastCovered(compact, history);
  const last = covered.at(-1);
  if (!last) return null;
  // A former process may have logged it, and not said so.
  const logged = port.log.view.state.messages.find(({ id: other }) => other === last.id)?.compaction;
  if (logged?.id === id) return { messageId: last.id, compaction: logged };
  const made = await compact.make({ messages: covered, key: id, signal, user, session });
  const { summary, usage }: MadeSummary = typeof made === 'string' ? { summary: made } : made;
  if (scope.ended) throw new RunOver();
  if (usage) scope.uses.add({ ...usage, id });
  checkSummary(summary, port.setting.summaryLength);
  const said = String(await scope.checked('text', 'compact', summary));
  const event = { ...{ messageId: last.id, id, summary: said }, ...(usage && { usage }) };
  const { plan } = await commitPlan(
    port.log,
    (state) => ({ events: compacted(state, { runId: run.id, event }) }),
    { refusable: true },
  );
  const [draft] = plan.events;
  return draft ? { messageId: last.id, compaction: compactionOf(draft) } : null;
}

type CompactedDraft = EventDraft & { readonly type: 'compacted' };

/** The event of a summary, unless its run has ended, its messages are left, or another summary covers them. */
function compacted(
  state: SessionState,
  {
    runId,
    event,
  }: {
    readonly runId: string;
    readonly event: Omit<Compaction, 'at' | 'covers' | 'runId'> & { readonly messageId: string };
  },
): readonly CompactedDraft[] {
  const { messages, messageCount } = state;
  const at = messages.findLastIndex(({ id }) => id === event.messageId);
  if (at < 0 || !isOpen(state, runId) || messages.slice(at).some(({ compaction }) => compaction)) return [];
  const covers = messageCount - (messages.length - 1 - at);
  return [{ type: 'compacted', runId, ts: Date.now(), ...event, covers }];
}

/** @throws GatewayError `INTERNAL`, `PAYLOAD_TOO_LARGE` */
function checkSummary(summary: unknown, most: number): asserts summary is string {
  if (typeof summary !== 'string' || summary === '')
    throw new GatewayError({ code: 'INTERNAL', message: 'compact.make returned no text' });
  if (summary.length > most)
    throw new GatewayError({
      code: 'PAYLOAD_TOO_LARGE',
      message: `A summary is limited to ${most} characters (limits.summaryLength)`,
    });
}
