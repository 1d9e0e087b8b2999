import * as z from 'zod';
import type { UsageQuery, UsageRow } from '../../../shared/budgets/contract.js';
import type { Usage } from '../../../shared/messages.js';

/** Parts of a unit of a currency in which costs are added, so that no sum depends on its order. */
const PARTS = 1e9;

const count = z.number();
const text = z.string().nullable();

/** The schema of `Counted`. */
export const countedShape = {
  by: z.object({
    ...{ day: z.string(), model: z.string(), app: z.string(), session: z.string() },
    ...{ person: text, tenant: text, grant: text, currency: text },
  }),
  sums: z.object({
    ...{ calls: count, runs: count, input: count, output: count },
    ...{ cached: count, reasoning: count, cost: count },
  }),
};

/** Amounts that were used, and their user. Fields that an account does not tell apart are empty. */
export interface Counted {
  readonly by: {
    readonly day: string;
    readonly model: string;
    readonly app: string;
    readonly session: string;
    readonly person: string | null;
    readonly tenant: string | null;
    readonly grant: string | null;
    /** Null if the cost is unknown. */
    readonly currency: string | null;
  };
  /** The cost is in billionths. */
  readonly sums: Sums;
}

export interface Sums {
  readonly calls: number;
  readonly runs: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
  readonly cost: number;
}

export const NOTHING: Sums = { calls: 0, runs: 0, input: 0, output: 0, cached: 0, reasoning: 0, cost: 0 };

const numberOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;

/** A cost in the parts in which costs are added. */
export const partsOf = (cost: number): number => Math.round(cost * PARTS);

export const costOf = (parts: number): number => parts / PARTS;

/** The sums of one call. */
export const sumsOf = (usage: Usage): Sums => ({
  ...{ calls: 1, runs: 0 },
  input: numberOf(usage.inputTokens),
  output: numberOf(usage.outputTokens),
  cached: numberOf(usage.cachedInputTokens),
  reasoning: numberOf(usage.reasoningTokens),
  cost: partsOf(numberOf(usage.cost)),
});

/** The currency of the cost of a call; null if that is unknown. */
export const currencyOf = ({ cost, currency }: Usage): string | null =>
  typeof cost === 'number' ? (typeof currency === 'string' ? currency : 'USD') : null;

export const plus = (a: Sums, b: Sums): Sums => ({
  calls: a.calls + b.calls,
  runs: a.runs + b.runs,
  input: a.input + b.input,
  output: a.output + b.output,
  cached: a.cached + b.cached,
  reasoning: a.reasoning + b.reasoning,
  cost: a.cost + b.cost,
});

/** Adds what has the same fields. */
export function grouped(all: Iterable<Counted>): readonly Counted[] {
  const groups = new Map<string, Counted>();
  for (const { by, sums } of all) {
    const key = JSON.stringify(Object.entries(by).sort());
    const before = groups.get(key);
    groups.set(key, { by, sums: before ? plus(before.sums, sums) : sums });
  }
  return [...groups.values()];
}

/** The answer to a question: the sums by the asked fields, in their order. */
export function rowsOf(
  all: Iterable<Counted>,
  { from = '', to = '9', by = [], tenant }: UsageQuery & { readonly tenant?: string | undefined },
): readonly UsageRow[] {
  const rows = new Map<string, UsageRow & { readonly parts: number }>();
  for (const { by: fields, sums } of all) {
    if (sums.calls === 0 || fields.day < from || fields.day > to) continue;
    if (tenant !== undefined && fields.tenant !== tenant) continue;
    const named = Object.fromEntries(by.map((name) => [name, fields[name]]));
    const { currency } = fields;
    const key = JSON.stringify([...Object.values(named), currency]);
    const before = rows.get(key);
    const parts = (before?.parts ?? 0) + sums.cost;
    rows.set(key, {
      ...named,
      calls: (before?.calls ?? 0) + sums.calls,
      inputTokens: (before?.inputTokens ?? 0) + sums.input,
      outputTokens: (before?.outputTokens ?? 0) + sums.output,
      cachedInputTokens: (before?.cachedInputTokens ?? 0) + sums.cached,
      reasoningTokens: (before?.reasoningTokens ?? 0) + sums.reasoning,
      ...{ cost: currency === null ? null : costOf(parts), currency, parts },
    });
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { parts: _, ...row }]) => row);
}
