import type { EventRecord } from './append.js';

/** Fills in the places of written events. */
export function place(events: readonly EventRecord[], first: number, term: number): void {
  let seq = first;
  for (const event of events) {
    event.seq = seq++;
    event.term = term;
  }
}
