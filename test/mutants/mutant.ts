/** One thing that a promise rests on, broken, and the test that is to see it. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** What is found once in the file, and what takes its place. */
  readonly edits: readonly (readonly [find: string, replace: string])[];
  /** The file of the test, and a part of its titles where not all of it is needed. */
  readonly test: string;
  readonly grep?: string;
  /** Which faults a test of chaos takes: a part of their names, as a regular expression. */
  readonly faults?: string;
}
