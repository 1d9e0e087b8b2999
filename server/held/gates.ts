import type { Usage } from '../../shared/messages.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { LiveRun } from '../runs/live-run.js';
import type { Hindrance } from '../runs/run-port.js';
import type { HeldSession } from './held-session.js';
import { readAgain } from './patient.js';

/** Asked before a run's app is called, and before each of its calls that costs. Null, at best in the same tick, if nothing hinders it. */
export type RunGate = (held: HeldSession, run: LiveRun) => MaybePromise<Hindrance | null>;

/** Adds the cost to the usage of a call, if it has none and this knows it. */
export type Prices = (usage: Usage) => Usage;

/** The first thing that hinders a run; null if nothing does. */
export function hindrance(held: HeldSession, run: LiveRun, from = 0): MaybePromise<Hindrance | null> {
  const { gates } = held.env;
  for (let at = from; at < gates.length; at += 1) {
    const met = gates[at]!(held, run);
    if (isPromise(met)) {
      // A store that does not say what is left is no reason to end a run.
      const found = readAgain(held, run, () => gates[at]!(held, run), met);
      return found.then((hinders) => hinders ?? hindrance(held, run, at + 1));
    }
    if (met) return met;
  }
  return null;
}
