import fc from 'fast-check';

/**
 * How many times as many cases as usual properties are tried with, each time others: `FUZZ=20 npx mocha --timeout 0 FILE`. Without it
 * they are the same each time, so that a change is never blamed for a case that nobody had met before.
 */
export const FUZZ = Number(process.env.FUZZ ?? 0);

/** What all else by chance begins with; `SEED` in the environment gives a former run again. */
export const SEED = Number(process.env.SEED ?? (FUZZ > 0 ? Date.now() % 2 ** 31 : 1));

fc.configureGlobal(FUZZ > 0 ? { numRuns: 100 * FUZZ } : { seed: 1 });

/** How many cases a property is tried with that is dearer, or cheaper, than others. */
export const cases = (usual: number): number => usual * Math.max(1, FUZZ);
