import * as z from 'zod';
import type { UsedTotal } from '../../../shared/budgets/contract.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { idOf, ownKey } from '../../ids.js';
import { kind } from '../../records/kind.js';
import type { EventCause } from '../../sessions/event-cause.js';
import { type RecordChange, textOfHome } from '../../stores/records.js';
import type { CommittedWrite } from '../../stores/watched-store.js';
import type { Budgets } from './budgets.js';
import { type Counted, costOf, currencyOf, NOTHING, sumsOf } from './counts.js';
import { factsOf, type RunFacts, rootOf } from './facts.js';
import { dayIn } from './periods.js';
import { isQuestion } from './question.js';
import {
  type Account,
  APART_MS,
  ENDED_MS,
  ENDS,
  type KeptUse,
  personAccount,
  sessionAccount,
  USES,
} from './usage-records.js';

/** The records of runs that wait for a budget. Their owner is the budget, so that its host finds them. */
export const WAITING = kind<{ readonly budget: string }>({
  ...{ name: 'budget-question', endsWith: 'conversation' },
  schema: z.object({ budget: z.string() }),
  ownerOf: ({ budget }) => waitersOf(budget),
});

export const waitersOf = (budget: string): string => ownKey('budget', 'waits', budget);

type Use = Pick<EventCause, 'log' | 'term' | 'storeTime'> & {
  readonly seq: number;
  readonly counted: Counted;
  readonly at: number;
};

/** The record of a use in one account. The place of its event names it. */
function recordIn(
  { owner, home, person, until }: Account,
  { log, term, seq, counted, storeTime }: Use,
): RecordChange {
  const id = idOf(owner, log.epoch, term, seq);
  const due = storeTime(Date.now()) + APART_MS;
  const use: KeptUse = {
    ...{ ...counted, owner, at: textOfHome(home), due },
    ...(person && { person }),
    ...(until !== undefined && { until }),
  };
  const change = USES.put(id, use);
  made.set(change, use);
  return change;
}

/** The uses of records, which need not be read again once they are written. */
const made = new WeakMap<RecordChange, KeptUse>();

const NO_FIELDS: Counted['by'] = {
  ...{ day: '', model: '', app: '', session: '' },
  ...{ person: null, tenant: null, grant: null, currency: null },
};

/** The records of what runs use, for the append that tells it. */
export function usesOf(cause: EventCause, budgets: Budgets): readonly RecordChange[] {
  const changes: RecordChange[] = [];
  cause.events.forEach((event, i) => {
    const seq = cause.head + i + 1;
    if (event.type === 'usage_added') changes.push(...called(cause, event, seq, budgets));
    else if (event.type === 'message_accepted') changes.push(...begun(cause, event, seq, budgets));
    else if (event.type === 'message_end') changes.push(...ended(cause, event, budgets));
    else if (event.type === 'tool_confirmation_required' && isQuestion(event))
      changes.push(...asked(cause, event));
  });
  for (const asked of cause.before.pending)
    if (isQuestion(asked) && !cause.after.pending.some(({ callId }) => callId === asked.callId))
      changes.push(WAITING.drop(asked.callId));
  return changes;
}

function called(
  cause: EventCause,
  { runId = '', usage }: GatewayEvent & { readonly type: 'usage_added' },
  seq: number,
  budgets: Budgets,
): readonly RecordChange[] {
  const { log, before, sessionId } = cause;
  const facts = factsIn(cause, runId);
  const now = cause.storeTime(Date.now());
  const run = before.run?.runId === runId ? before.run : before.lanes?.find((lane) => lane.runId === runId);
  const sums = sumsOf(usage);
  const currency = currencyOf(usage);
  const common = {
    ...NO_FIELDS,
    ...{ day: dayIn('UTC', now), model: usage.model ?? '', app: run?.app ?? log.app, currency },
  };
  const put = (account: Account, by: Counted['by']): RecordChange =>
    recordIn(account, { seq, counted: { by, sums }, at: now, ...cause });
  const { person, tenant, grant } = facts;
  return [
    put(personAccount(facts.payer), { ...common, person, tenant, grant }),
    put(sessionAccount({ scope: log.scope, app: log.app, name: log.name }), {
      ...common,
      session: sessionId,
    }),
    ...budgets.of(facts, now).map(({ account }) => put(account, { ...NO_FIELDS, currency })),
  ];
}

/** Counts a run that begins, for the budgets that count runs. */
function begun(
  cause: EventCause,
  { runId = '' }: GatewayEvent & { readonly type: 'message_accepted' },
  seq: number,
  budgets: Budgets,
): readonly RecordChange[] {
  if (!budgets.all.some(({ limit }) => limit.runs !== undefined)) return [];
  const now = cause.storeTime(Date.now());
  return budgets
    .of(factsIn(cause, runId), now)
    .filter(({ budget }) => budget.limit.runs !== undefined)
    .map(({ account }) =>
      recordIn(account, {
        ...{ seq, counted: { by: NO_FIELDS, sums: { ...NOTHING, runs: 1 } }, at: now },
        ...cause,
      }),
    );
}

/** Ends what is counted for a run with all runs under it. */
function ended(
  cause: EventCause,
  { runId = '' }: GatewayEvent & { readonly type: 'message_end' },
  budgets: Budgets,
): readonly RecordChange[] {
  if (!budgets.all.some(({ period }) => period === 'run')) return [];
  const facts = factsIn(cause, runId);
  if (facts.root !== runId) return [];
  const now = cause.storeTime(Date.now());
  return budgets
    .of(facts, now)
    .filter(({ budget }) => budget.period === 'run')
    .map(({ account: { owner } }) => ENDS.put(idOf('end', owner), { owner, due: now + ENDED_MS }));
}

function asked(
  { log: { epoch } }: EventCause,
  { callId, input }: GatewayEvent & { readonly type: 'tool_confirmation_required' },
): readonly RecordChange[] {
  const { budget } = (input ?? {}) as { readonly budget?: unknown };
  return typeof budget === 'string' ? [WAITING.put(callId, { budget }, { epoch })] : [];
}

function factsIn({ log, sessionId, before, senderOf }: EventCause, runId: string): RunFacts {
  const ref = { scope: log.scope, app: log.app, name: log.name };
  return factsOf({ ref, sessionId, root: rootOf(before, runId) }, senderOf(runId));
}

/** The uses that this gateway has written: counts them, and tells of each person once. */
export class WrittenUses {
  readonly #models: ReadonlySet<string>;
  readonly #persons = new Set<string>();
  readonly #totals = new Map<string, { -readonly [Name in keyof UsedTotal]: UsedTotal[Name] }>();
  readonly #note: (person: string) => void;
  readonly #written: (id: string, use: KeptUse) => void;

  /**
   * @param models The models that totals tell apart
   * @param written Hears of each use
   */
  constructor(
    models: Iterable<string>,
    note: (person: string) => void,
    written: (id: string, use: KeptUse) => void,
  ) {
    this.#written = written;
    this.#models = new Set(models);
    this.#note = note;
  }

  get totals(): readonly UsedTotal[] {
    return [...this.#totals.values()].map((total) => ({ ...total }));
  }

  committed({ records }: CommittedWrite): void {
    for (const record of records) {
      const use = record.kind === USES.name ? (made.get(record) ?? USES.written(record)) : null;
      if (!use) continue;
      this.#written(record.id, use);
      if (!use.person) continue;
      const { owner, by, sums } = use;
      this.#count(by, sums);
      if (this.#persons.has(owner)) continue;
      if (this.#persons.size >= 10_000) this.#persons.clear();
      this.#persons.add(owner);
      this.#note(owner);
    }
  }

  #count({ app, model: named, currency: of }: Counted['by'], { input, output, cost }: Counted['sums']): void {
    const model = this.#models.has(named) ? named : 'other';
    const currency = of !== null && /^[A-Z]{3}$/.test(of) && this.#totals.size < 1000 ? of : '';
    const key = JSON.stringify([app, model, currency]);
    const total = this.#totals.get(key) ?? { app, model, currency, tokens: 0, cost: 0 };
    total.tokens += input + output;
    if (currency !== '') total.cost += costOf(cost);
    this.#totals.set(key, total);
  }
}
