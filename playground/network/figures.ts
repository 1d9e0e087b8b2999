import { isDelta } from '../../shared/events.js';
import type { Recorded } from '../timeline/record.js';

/** Most runs and pauses that a plot shows. */
const MOST_RUNS = 24;
const MOST_GAPS = 120;

/** Milliseconds from the start of each run to its first piece of text, by the gateway's clock; the last runs, oldest first. */
export function timesToFirstToken(entries: readonly Recorded[]): readonly number[] {
  const started = new Map<string, number>();
  const times: number[] = [];
  for (const { event } of entries) {
    if (event.type === 'message_start') started.set(event.runId!, event.ts);
    const began = isDelta(event) ? started.get(event.runId!) : undefined;
    if (!isDelta(event) || began === undefined) continue;
    times.push(event.ts - began);
    started.delete(event.runId!);
  }
  return times.slice(-MOST_RUNS);
}

/** Milliseconds between the arrivals of a run's pieces of text at this page; the last ones, oldest first. */
export function gapsBetweenTokens(entries: readonly Recorded[]): readonly number[] {
  const gaps: number[] = [];
  let before: { readonly runId: string | undefined; readonly at: number } | undefined;
  for (const { event, at } of entries.slice(-MOST_GAPS * 2)) {
    if (!isDelta(event)) continue;
    const { runId } = event;
    if (before?.runId === runId) gaps.push(at - before!.at);
    before = { runId, at };
  }
  return gaps.slice(-MOST_GAPS);
}
