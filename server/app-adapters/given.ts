import type { Turn } from '../apps/application.js';

/** A value, or a function that has it for each turn. */
export type Given<T> = T | ((turn: Turn) => T | Promise<T>);

/** The value for a turn. */
export async function givenTo<T extends string | object | undefined>(
  turn: Turn,
  given: Given<T>,
): Promise<T> {
  return typeof given === 'function' ? given(turn) : given;
}
