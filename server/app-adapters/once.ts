import { cut } from '../../shared/cut.js';
import type { Turn } from '../apps/application.js';
import { MAX_STEP_NAME } from '../apps/step-context.js';

/** A step with a JSON result, and a name that contains text chosen by a model. */
export function once<T>(turn: Turn, name: string, work: () => T | Promise<T>): Promise<T> {
  return turn.step(cut(name, MAX_STEP_NAME), work) as Promise<T>;
}
