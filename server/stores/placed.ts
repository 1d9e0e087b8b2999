import type { EventRecord } from './store.js';

/** Fills in where events were written. */
export function place(events: readonly EventRecord[], first: number, term: number): void {
  let seq = first;
  for (const event of events) Object.assign(event, { seq: seq++, term });
}
