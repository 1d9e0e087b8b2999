import type { NoticeCount, NoticeOutcome } from '../diagnostics/gateway-stats.js';
import type { KeptNotice } from './notice-record.js';

/** Counts the outcomes of notices in this gateway. */
export class NoticeTally {
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
