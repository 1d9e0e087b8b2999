import type { UsageBy, UsageQuery, UsageRow } from '../../../shared/budgets/contract.js';
import type { HostUsageQuery } from '../../../shared/budgets/options.js';
import { userScope } from '../../auth/scope.js';
import { DONE, type DueKind } from '../../due/due-kind.js';
import { digestOf, ownKey } from '../../ids.js';
import { asUnavailable } from '../../log/unavailable.js';
import type { Feature, FeatureGateway } from '../../operations/feature.js';
import { storeTime } from '../../stores/skew.js';
import type { Store } from '../../stores/store.js';
import { Budgets } from './budgets.js';
import { budgetConfig, pricesOf } from './config.js';
import { type Counted, rowsOf } from './counts.js';
import { BudgetGate } from './gate.js';
import { Ledger } from './ledger.js';
import { BudgetSetter } from './opening.js';
import { opened } from './question.js';
import { usesOf, WAITING, WrittenUses } from './recording.js';
import { SHARES } from './spent-reader.js';
import { TOLD } from './told-parts.js';
import {
  ACCOUNTS,
  type Account,
  accountOf,
  ENDS,
  HEADS,
  headId,
  personAccount,
  SUMS,
  sessionAccount,
  sumId,
  USES,
} from './usage-records.js';

/** Time after which an account is tried again whose sums another gateway has changed, in milliseconds. */
const SOON_MS = 250;

/** The account of people who were erased. */
const NAMELESS: Account = {
  owner: ownKey('usage', 'nameless'),
  home: { scope: ownKey('usage', 'nameless') },
};

/** All that runs use, and the budgets that bound it. */
export const budgetsFeature: Feature = {
  config: budgetConfig,
  kinds: [USES, SUMS, HEADS, ACCOUNTS, WAITING, TOLD, SHARES, ENDS],
  work: { 'budget-opened': { does: opened } },
  causes: {
    budget_reached: ({ runId, budget, opensAt }, { log }) => ({
      ...{ kind: 'budget_reached', of: [log.name, budget, opensAt ?? 0] },
      ...(runId !== undefined && { runId }),
    }),
    budget_warned: ({ runId, budget, opensAt, at }, { log }) => ({
      ...{ kind: 'budget_warned', of: [log.name, budget, opensAt ?? 0, at] },
      ...(runId !== undefined && { runId }),
    }),
  },
  open(gateway) {
    const { config, store, report } = gateway;
    const { budgets: given = [], prices = {}, usage: { keptMs, keepSums = false } = {} } = config;
    const budgets = new Budgets(given, store);
    const ledger = new Ledger(store, keptMs);
    const gate = new BudgetGate(budgets, ledger, store);
    const opening = new BudgetSetter(gateway, budgets);
    const written = new WrittenUses(
      Object.keys(prices),
      (person) => {
        Promise.resolve(ledger.note(person)).catch((error: unknown) => report(error, 'noting who uses'));
      },
      (id, use) => ledger.written(id, use),
    );
    return {
      gate: gate.ask,
      admits: gate.admits,
      prices: pricesOf(prices),
      recordsOf: (cause) => usesOf(cause, budgets),
      committed: (write) => written.committed(write),
      dueKinds: {
        [USES.name]: adding(ledger, store),
        [ENDS.name]: ending(ledger, store),
        ...Object.fromEntries([SUMS, HEADS, TOLD, SHARES].map(({ name }) => [name, forgetting(store)])),
      },
      join: (errands) => opening.join(errands),
      look: () => budgets.load().catch((error: unknown) => report(error, 'reading budgets')),
      stats: () => ({ used: written.totals }),
      erasing: async (home) => {
        ledger.forget();
        await asUnavailable(() => ledger.addAllOf(home, storeTime(store)));
        if (home.app === undefined && keepSums) await keepNameless(store, ledger, home.scope);
      },
      operations: () => ({
        usage: async ({ by, ...days }, { caller }) => ({
          usage: await asked(ledger, [personAccount(caller.person.pays.key)], {
            ...days,
            by: (by?.split(',') ?? []) as UsageBy[],
          }),
        }),
      }),
      operator: {
        usage: (query) => hostUsage(gateway, ledger, query),
        setBudget: (budget) => opening.set(budget),
        unsetBudget: (name) => opening.unset(name),
        budgets: async () => {
          await asUnavailable(() => budgets.load());
          return budgets.all;
        },
      },
    };
  },
};

async function asked(
  ledger: Ledger,
  accounts: Iterable<Account> | AsyncIterable<Account>,
  query: UsageQuery & Pick<HostUsageQuery, 'tenant'>,
): Promise<readonly UsageRow[]> {
  const all: Counted[] = [];
  await asUnavailable(async () => {
    for await (const account of accounts) all.push(...(await ledger.of(account)));
  });
  return rowsOf(all, query);
}

/** The usage of a session, of one person, or of all people. @throws GatewayError `OVERLOADED` */
function hostUsage(
  { apps }: Pick<FeatureGateway, 'apps'>,
  ledger: Ledger,
  { sessionId, user, scope = user && userScope(user), ...query }: HostUsageQuery,
): Promise<readonly UsageRow[]> {
  if (sessionId !== undefined)
    return asked(ledger, [sessionAccount({ scope: scope ?? 'global', ...apps.parse(sessionId) })], query);
  return asked(ledger, scope === undefined ? everybody(ledger) : [personAccount(scope)], query);
}

async function* everybody(ledger: Ledger): AsyncGenerator<Account> {
  for await (const key of ledger.persons()) yield personAccount(key);
  yield NAMELESS;
}

/** Adds a use to the sums of its account, with all others there. */
const adding = (ledger: Ledger, store: Store): DueKind => ({
  async do(record) {
    const kept = USES.read(record);
    if (!kept) return { dead: 'its record has another form' };
    const isAdded = await ledger.add(accountOf(kept.value), storeTime(store));
    return isAdded ? DONE : { laterMs: SOON_MS };
  },
  attempts: Number.POSITIVE_INFINITY,
  bounds: () => [{ name: 'usage', most: 8 }],
});

/** Drops all that is kept of the account of a run. */
const ending = (ledger: Ledger, store: Store): DueKind => ({
  async do(record) {
    const kept = ENDS.read(record);
    if (!kept) return { dead: 'its record has another form' };
    const { kind, id, token, home } = record;
    const account = { owner: kept.value.owner, home };
    if (!(await ledger.end(account, storeTime(store), [TOLD]))) return { laterMs: SOON_MS };
    await store.changeRecords(home, [{ kind, id, token }], { mayRepeat: true });
    return DONE;
  },
  bounds: () => [{ name: 'usage', most: 8 }],
});

/** Drops what is kept no longer. */
const forgetting = (store: Store): DueKind => ({
  async do({ home, kind, id, token }) {
    await store.changeRecords(home, [{ kind, id, token }], { mayRepeat: true });
    return DONE;
  },
});

/** Keeps the sums of a person who is erased without a name. A repeated erasure keeps them once. */
async function keepNameless(store: Store, ledger: Ledger, key: string): Promise<void> {
  const account = personAccount(key);
  await asUnavailable(async () => {
    const { token } = await HEADS.at(store, account.home, headId(account.owner));
    const once = digestOf(JSON.stringify([key, token]));
    const sums = (await ledger.of(account)).map(({ by, sums }) => {
      const counted = { by: { ...by, person: null, grant: null, session: '' }, sums };
      return SUMS.put(sumId(once, counted), { owner: NAMELESS.owner, ...counted });
    });
    if (sums.length > 0) await store.changeRecords(NAMELESS.home, sums);
  });
}
