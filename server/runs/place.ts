import type { StepRecord } from '../stores/stored.js';

/** The number of the record that has an app's place. Steps begin at 1. */
const NUMBER = 0;

/** A place that an app has kept, and how far its run was then. */
export interface KeptPlace {
  readonly value: unknown;
  /** Number of the last step that was called before. */
  readonly steps: number;
  /** Place in the log. */
  readonly seq: number;
  /** Number of blocks of the answer. */
  readonly blocks: number;
}

/** The record of a place. */
export const recordOfPlace = (runId: string, place: KeptPlace): StepRecord => ({
  ...{ runId, number: NUMBER, name: 'place' },
  outcome: JSON.stringify(place),
});

/** The place among the steps that a former process kept; null if the app has kept none. */
export function placeIn(left: readonly StepRecord[]): KeptPlace | null {
  const outcome = left.find(({ number }) => number === NUMBER)?.outcome;
  return outcome === undefined ? null : (JSON.parse(outcome) as KeptPlace);
}
