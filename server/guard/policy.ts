import { GatewayError } from '../../shared/errors.js';
import type { Guard, GuardCheck, GuardContext, GuardedPart, GuardVerdict } from '../apps/guard.js';
import { settleWithin } from '../async/deadline.js';
import { type Window, windowOfAll } from './window.js';

/** The outcome of all checks of a text: what is said, or that the run ends with this. */
export type Judgement = { readonly text: string } | { readonly end: string };

/** The fate of a text that was checked. */
export type GuardOutcome = 'pass' | 'replace' | 'end' | 'failed';

/** Hears what became of each text, and of checks that failed. */
export interface GuardListener {
  judged(about: GuardContext, outcome: Exclude<GuardOutcome, 'failed'>, ms: number): void;
  failed(about: GuardContext, error: unknown, onFailure: 'end' | 'pass', ms: number): void;
}

/** A check with the policy of its guard. */
interface Checker {
  readonly check: GuardCheck;
  readonly parts: ReadonlySet<GuardedPart>;
  readonly onFailure: 'end' | 'pass';
  readonly timeoutMs: number;
}

const PARTS: readonly GuardedPart[] = ['text', 'reasoning'];
const TIMEOUT_MS = 5000;

/** Parts of what a run says. */
const isOfRun = (part: GuardedPart): boolean => part !== 'message';

/** All guards that stand before an app: the gateway's, and its own. */
export class GuardPolicy {
  readonly window: Window;
  /** Whether it checks anything that a run says. */
  readonly ofRuns: boolean;
  readonly #checkers: readonly Checker[];
  readonly #listener: GuardListener;

  /** @param guards The gateway's first */
  constructor(guards: readonly Guard[], listener: GuardListener) {
    this.window = windowOfAll(guards);
    this.#checkers = guards.flatMap(({ check, parts = PARTS, onFailure = 'end', timeoutMs = TIMEOUT_MS }) =>
      [check].flat().map((each) => ({ check: each, parts: new Set(parts), onFailure, timeoutMs })),
    );
    this.ofRuns = this.#checkers.some(({ parts }) => [...parts].some(isOfRun));
    this.#listener = listener;
  }

  guards(kind: GuardedPart): boolean {
    return this.#checkers.some(({ parts }) => parts.has(kind));
  }

  /**
   * Has all checks look at a text, at the same time. Never rejects.
   *
   * @param about Without its signal, which the wait for the checks makes
   */
  async judge(text: string, about: Omit<GuardContext, 'signal'>): Promise<Judgement> {
    const since = performance.now();
    const seen = { ...about, signal: NEVER };
    const told = (outcome: 'pass' | 'replace' | 'end'): void =>
      this.#listener.judged(seen, outcome, performance.now() - since);
    const checkers = this.#checkers.filter(({ parts }) => parts.has(about.kind));
    const verdicts = await Promise.all(checkers.map((checker) => this.#ask(checker, text, about)));
    let said = text;
    let changed: Checker | null = null;
    for (const [at, first] of verdicts.entries()) {
      const checker = checkers[at]!;
      // The others have not seen what one of them has put there.
      const verdict = changed && isReplaced(first) ? await this.#ask(checker, said, about) : first;
      if (isEnd(verdict)) {
        told('end');
        return { end: verdict.end };
      }
      if (!isReplaced(verdict)) continue;
      said = verdict.replace;
      changed = checker;
    }
    told(changed ? 'replace' : 'pass');
    return { text: said };
  }

  /** A check's word. A check that fails says what the policy of its guard says. */
  async #ask(
    { check, onFailure, timeoutMs }: Checker,
    text: string,
    about: Omit<GuardContext, 'signal'>,
  ): Promise<GuardVerdict> {
    const since = performance.now();
    const over = new AbortController();
    const context = { ...about, signal: over.signal };
    try {
      const asked = (async () => check(text, context))();
      const verdict = await settleWithin(asked, timeoutMs, () => ({
        error: new GatewayError({ code: 'TIMEOUT', message: `A check took longer than ${timeoutMs} ms` }),
      }));
      assertVerdict(verdict);
      return verdict;
    } catch (error) {
      this.#listener.failed(context, error, onFailure, performance.now() - since);
      return onFailure === 'pass' ? 'pass' : { end: '' };
    } finally {
      over.abort();
    }
  }
}

const NEVER = new AbortController().signal;

const isEnd = (verdict: GuardVerdict): verdict is { readonly end: string } =>
  typeof verdict === 'object' && 'end' in verdict;

const isReplaced = (verdict: GuardVerdict): verdict is { readonly replace: string } =>
  typeof verdict === 'object' && 'replace' in verdict;

/** @throws GatewayError `INTERNAL` for a word that is none, which must not count as a pass */
function assertVerdict(verdict: unknown): void {
  if (verdict === undefined || verdict === 'pass') return;
  const { end, replace } = (verdict ?? {}) as { end?: unknown; replace?: unknown };
  if (typeof (end ?? replace) === 'string') return;
  throw new GatewayError({
    code: 'INTERNAL',
    message: "A check answers with nothing, 'pass', { replace: text } or { end: text }",
  });
}
