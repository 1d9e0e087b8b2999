import type { NoticeKind } from '../../shared/notices.js';
import type { KeptNotice } from './notice-record.js';

/** What became of a notice, or of an attempt to tell a target: given up (`dead`), to be tried again (`failed`), nobody is there (`gone`). */
export type NoticeOutcome = 'told' | 'seen' | 'failed' | 'dead' | 'gone';

/** How often something became of notices. */
export interface NoticeCount {
  readonly kind: NoticeKind;
  /** Absent where it was of no target's: it was seen. */
  readonly target?: string;
  readonly outcome: NoticeOutcome;
  readonly count: number;
}

/** Counts what became of notices here. */
export class Tally {
  readonly #counts = new Map<string, NoticeCount>();

  count(
    { notice: { kind }, target }: KeptNotice & { readonly target?: string },
    outcome: NoticeOutcome,
  ): void {
    const key = `${kind} ${target ?? ''} ${outcome}`;
    const { count = 0 } = this.#counts.get(key) ?? {};
    this.#counts.set(key, { kind, ...(target !== undefined && { target }), outcome, count: count + 1 });
  }

  get counts(): readonly NoticeCount[] {
    return [...this.#counts.values()];
  }
}
