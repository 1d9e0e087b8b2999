import { MAX_STEP_NAME, type Turn } from '../apps/application.js';

/** A step whose name has in it what a model has chosen, and whose result is JSON. */
export function once<T>(turn: Turn, name: string, work: () => T | Promise<T>): Promise<T> {
  return turn.step(name.slice(0, MAX_STEP_NAME), work) as Promise<T>;
}
