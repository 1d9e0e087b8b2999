import type { ConfirmPolicy } from '../approvals.js';
import type { UserContext } from '../contract.js';
import type { UserName } from '../user-name.js';
import type { BudgetAmounts, UsageQuery, UsageRow } from './contract.js';

/** The price of a model for so many tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** For input that the provider had in its cache. @default `input` */
  readonly cached?: number | undefined;
  /** Three letters of ISO 4217. @default 'USD' */
  readonly currency?: string | undefined;
  /** Number of tokens. @default 1000000 */
  readonly per?: number | undefined;
}

/** The run that a budget is asked for. */
export interface BudgetedRun {
  readonly sessionId: string;
  readonly app: string;
  readonly user: UserContext | null;
  readonly grantId?: string;
}

/** A bound of what may be used. */
export interface Budget {
  readonly name: string;
  /**
   * Whose usage counts together. A function names it, or answers null for runs that the budget is not for. A person is the user; for a link, all who
   * bear it. `grant` and `tenant` are for runs that have one.
   */
  readonly per: 'session' | 'person' | 'grant' | 'tenant' | 'app' | ((run: BudgetedRun) => string | null);
  /** `run` counts a run with all runs under it. */
  readonly period: 'run' | 'day' | 'month' | 'ever';
  /** IANA name of the time zone in which days and months begin. @default 'UTC' */
  readonly zone?: string | undefined;
  /** Any of these is a limit. `cost` is in `currency`, `USD` by default; calls in others, and those without a known cost, count as tokens alone. */
  readonly limit: BudgetAmounts;
  /** Parts of the limit that are told as `budget_warned`, below 1. @default [0.8] */
  readonly at?: readonly number[] | undefined;
  /**
   * Once it is used up. `warn` tells it. `ask` has the run wait for a person, whose yes lets it go on to its end; it goes on by itself once the budget
   * opens. `stop` ends the run as `budget`, and refuses messages with `BUDGET_EXHAUSTED`.
   */
  readonly reached: 'warn' | 'ask' | 'stop';
  /** The people who are asked. @default anybody who may answer in the session */
  readonly question?: ConfirmPolicy | undefined;
}

/** How usage is kept. */
export interface UsageOptions {
  /** Milliseconds for which the sums of a day are kept. @default for ever */
  readonly keptMs?: number | undefined;
  /** Whether the sums of a person who is erased stay, without a name. @default false */
  readonly keepSums?: boolean | undefined;
}

/** The fields of a gateway's configuration about usage. */
export interface BudgetConfig {
  readonly budgets?: readonly Budget[] | undefined;
  /** Prices by the names of models. A call of another model has a cost if its app says so. */
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined;
  readonly usage?: UsageOptions | undefined;
}

/** A host's question for usage. */
export interface HostUsageQuery extends UsageQuery {
  /** Only what was used in this session. Without a `scope` it is one that all users share. */
  readonly sessionId?: string | undefined;
  /** Without a session, all that is used in the name of this scope: for a user's own, as `user`. */
  readonly scope?: string | undefined;
  /** Only what this user has used, but by no link. */
  readonly user?: UserName | undefined;
  /** Only what was used in this tenant. */
  readonly tenant?: string | undefined;
}

/** Names the one who has a budget changed. */
export interface BudgetDoneBy {
  /** Id of the person or program that has it done, for the audit. @default nobody is known */
  readonly by?: string | undefined;
}

/** The budgets that are set at run time. */
export interface GatewayBudgets {
  /** All budgets, with those of the configuration. */
  list(): Promise<readonly Budget[]>;
  /** Sets a budget at all gateways of the store, in place of one of this name. Runs that wait for it go on if it has room. */
  set(budget: Budget, options?: BudgetDoneBy): Promise<void>;
  /** Takes back a budget that was set so. One of the configuration comes back. */
  unset(name: string, options?: BudgetDoneBy): Promise<void>;
}

/** The operators' access to usage and budgets. There is no access check. */
export interface BudgetOperator {
  usage(query: HostUsageQuery): Promise<readonly UsageRow[]>;
  /** Sets a budget at all gateways of the store, in place of one of this name. Its `per` is no function. Runs that wait for it go on if it has room. */
  setBudget(budget: Budget): Promise<void>;
  /** Takes a budget back that was set so. One of the configuration comes back. */
  unsetBudget(name: string): Promise<void>;
  budgets(): Promise<readonly Budget[]>;
}
