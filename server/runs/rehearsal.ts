import { cut } from '../../shared/cut.js';
import type { PendingQuestion } from '../../shared/fold.js';
import type { StepRecord } from '../stores/stored.js';
import { placeIn } from './place.js';

/** Time without any call after which no other is expected beside one that has no outcome, in milliseconds. */
const QUIET_MS = 100;
/** Characters of a text that a mismatch tells. */
const EXCERPT = 60;

/** Something that an app comes to, and that has no outcome yet. */
export interface Met {
  readonly what: 'step' | 'tool' | 'question' | 'sleep' | 'child' | 'text' | 'end' | 'error';
  readonly name: string;
  /** The name of what a former process has left open, if this is it. */
  readonly open?: string;
}

/** The difference by which a version of an app does not come to where a run is: what was there, and what it came to instead. */
export interface Mismatch {
  readonly what: Met['what'] | 'time';
  readonly before?: string;
  readonly now?: string;
}

/** The place of a run: all that an app must come to. */
export interface AheadOfRun {
  readonly steps: readonly StepRecord[];
  readonly pending: readonly PendingQuestion[];
}

/** Names a step, and a question, among what is open. */
export const openStep = (number: number): string => `step ${number}`;
export const openQuestion = (callId: string): string => `question ${callId}`;

/**
 * Whether an app comes to where a run is. Its calls that have an outcome get that; the first that has none does not come back, and decides: by then everything
 * must have been called that the run has.
 */
export class Rehearsal {
  /** Null once the app has come to the place of the run. */
  readonly outcome: Promise<Mismatch | null>;
  #resolve!: (outcome: Mismatch | null) => void;
  /** The names of what the app must come to, by number and id. */
  readonly #ahead = new Map<string, { readonly what: Met['what']; readonly name: string }>();
  #met: Met | null = null;
  #quiet: NodeJS.Timeout | undefined;
  #late: NodeJS.Timeout;

  constructor({ steps, pending }: AheadOfRun, ms: number) {
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const from = placeIn(steps)?.steps ?? 0;
    for (const { number, name } of steps)
      if (number > from) this.#ahead.set(openStep(number), { what: 'step', name });
    for (const { callId, name } of pending) this.#ahead.set(openQuestion(callId), { what: 'question', name });
    this.#goOnQuietly();
    this.#late = setTimeout(() => this.#end({ what: 'time', ...this.#expected() }), ms);
  }

  /** Notes a call that has its outcome. */
  passed(known: string): void {
    this.#ahead.delete(known);
    if (this.#met) this.#judge();
    else this.#goOnQuietly();
  }

  /** An app that has called all that the run has, and calls nothing more by the turn, is where the run is. */
  #goOnQuietly(): void {
    clearTimeout(this.#quiet);
    if (this.#ahead.size === 0) this.#quiet = setTimeout(() => this.#end(null), QUIET_MS);
  }

  /** Notes a call that has none, which never comes back. */
  meets(met: Met): Promise<never> {
    if (met.open !== undefined) this.#ahead.delete(met.open);
    // The questions within a step are not come to.
    if (met.what === 'step' && met.open !== undefined)
      for (const [name, { what }] of this.#ahead) if (what === 'question') this.#ahead.delete(name);
    if (!this.#met || this.#met.open !== undefined) this.#met = met;
    this.#judge();
    return new Promise(() => {});
  }

  /** Ends with a difference. */
  differs(mismatch: Mismatch): void {
    this.#end(mismatch);
  }

  #judge(): void {
    const met = this.#met!;
    if (this.#ahead.size === 0) return this.#end(null);
    clearTimeout(this.#quiet);
    const differs = (): void => this.#end({ what: met.what, ...this.#expected(), now: cutName(met.name) });
    if (met.what === 'text' || met.what === 'end' || met.what === 'error') return differs();
    // Calls that are made together come in one turn of the event loop, and some of them a little later.
    this.#quiet = setTimeout(differs, QUIET_MS);
  }

  #expected(): { readonly before?: string } {
    const [next] = this.#ahead.values();
    return next ? { before: cutName(next.name) } : {};
  }

  #end(outcome: Mismatch | null): void {
    clearTimeout(this.#quiet);
    clearTimeout(this.#late);
    this.#resolve(outcome);
  }
}

const cutName = (name: string): string => cut(name, EXCERPT);
