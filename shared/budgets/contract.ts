/** The fields by which usage may be told apart. */
export const USAGE_BY = ['day', 'model', 'app', 'person', 'tenant', 'grant', 'session'] as const;
/** A field by which usage is grouped. */
export type UsageBy = (typeof USAGE_BY)[number];

/** A sum of what was used. It has the fields by which it was asked for. */
export interface UsageRow {
  /** Day in UTC, `2026-11-28`. */
  readonly day?: string;
  /** Empty for calls without one. */
  readonly model?: string;
  readonly app?: string;
  /** Id of the user; null for none, for a link, and for a person whose sums stay without a name. */
  readonly person?: string | null;
  readonly tenant?: string | null;
  /** The grant by which it was used; null for none. */
  readonly grant?: string | null;
  readonly session?: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  /** Null for calls whose cost nobody knows. Calls with a cost have a row of their own, for each currency. */
  readonly cost: number | null;
  readonly currency: string | null;
}

/** The range and the grouping of a question for usage. */
export interface UsageQuery {
  /** The first day, in UTC, `2026-11-28`. @default all that is kept */
  readonly from?: string | undefined;
  /** The last day. */
  readonly to?: string | undefined;
  /** @default everything in one sum, for each currency */
  readonly by?: readonly UsageBy[] | undefined;
}

/** A client's question for usage. */
export interface UsageParams extends Omit<UsageQuery, 'by'> {
  /** Names of `UsageBy`, with commas between them. @default everything in one sum, for each currency */
  readonly by?: string | undefined;
}

/** The spent amounts of a budget, its limits, and the time when it opens again. */
export interface BudgetState {
  readonly budget: string;
  readonly spent: BudgetAmounts;
  readonly limit: BudgetAmounts;
  /** Milliseconds since the epoch. Null if it never opens by itself. */
  readonly opensAt: number | null;
}

/** Amounts of a budget. */
export interface BudgetAmounts {
  readonly cost?: number;
  readonly currency?: string;
  readonly tokens?: number;
  readonly runs?: number;
}

/** The operations on usage. */
export interface BudgetOperations {
  /** All that the caller has used, of any session; by a link, all that its bearers have. */
  usage: { params: UsageParams; result: { readonly usage: readonly UsageRow[] } };
}

/** The events of budgets. */
export interface BudgetEvents {
  /** A budget has come to a part of its limit, `at`. Told once for each period, in the session whose run came to it. */
  budget_warned: BudgetState & { readonly at: number };
  /** A budget is used up. Told once for each period and limit. */
  budget_reached: BudgetState;
}

/** The events that cause notices. */
export const BUDGET_CAUSES = ['budget_reached', 'budget_warned'] as const;

/** The properties of its operations that a client has to know. */
export const BUDGET_CALLS = { usage: 'GET' } as const;

/** A number that a gateway has counted since it began. */
export interface UsedTotal {
  readonly app: string;
  /** A model of `prices`, or `other`. */
  readonly model: string;
  readonly currency: string;
  readonly tokens: number;
  readonly cost: number;
}

/** The numbers of usage in `gateway.stats()`. */
export interface BudgetStats {
  readonly used: readonly UsedTotal[];
}
