import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { type Committed, type GroupOptions, recordsOf } from './append-group.js';
import type { LogWriter } from './log-writer.js';

/** The content of an append, made from the state just before it. */
export interface Plan {
  readonly events: readonly EventDraft[];
  /** Changes of records, or a function that returns them once the events are made. */
  readonly records?: Exclude<GroupOptions['records'], undefined>;
}

/** The options of an append that is planned. */
export type PlannedOptions<P extends Plan> = Omit<GroupOptions, 'records' | 'acknowledged'> & {
  /** Called as soon as the plan is stored, before anything later is looked at. Not called for one that was stored before. */
  readonly acknowledged?: (plan: P) => void;
};

/** The plan of an append, and what became of it. */
export interface Done<P extends Plan> {
  readonly plan: P;
  readonly committed: Committed;
}

/**
 * Appends what is planned once everything earlier is committed. It is planned again for each try.
 *
 * @param make Also gets the number of plans that the store can never keep, see `GroupOptions.forms`
 */
export async function commitPlan<P extends Plan>(
  log: Pick<LogWriter, 'commit'>,
  make: (state: SessionState, refused: number) => P,
  { acknowledged, ...options }: PlannedOptions<P>,
): Promise<Done<P>> {
  let plan: P | null = null;
  const committed = await log.commit(
    (state, refused) => {
      plan = make(state, refused);
      return plan.events;
    },
    {
      records: () => recordsOf(plan),
      ...options,
      ...(acknowledged && { acknowledged: () => acknowledged(plan!) }),
    },
  );
  return { plan: plan!, committed };
}
