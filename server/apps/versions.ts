/** The fate of a run with which another version of its app cannot go on. */
export type OnMismatch = 'hold' | 'ask' | 'restart' | 'end';

/** The versions of an app over its deploys. */
export interface Versioned {
  /**
   * The version of the app, which each of its runs keeps. Change it with each change that an unfinished run might notice. Without one, every run goes on
   * with whatever code there is.
   */
  readonly version?: string;
  /**
   * The versions whose unfinished runs this one may go on with, `'*'` for all. Each is rehearsed first. A run of no version is rehearsed too; one of any other
   * version is held.
   *
   * @default none
   */
  readonly accepts?: readonly string[] | '*';
  /**
   * The fate of a run with which this version cannot go on, as its rehearsal shows. `hold`: it waits for a version that can. `ask`: a person says whether it
   * begins anew or ends. `restart`: it ends, and its message is answered anew. `end`: it ends as `lost`.
   *
   * @default 'hold'
   */
  readonly onMismatch?: OnMismatch;
}

/** Whether an app goes on with a run of a version without a question: it has that version, or none. */
export const isOf = ({ version }: Versioned, begun: string | undefined): boolean =>
  version === undefined || version === begun;

/** Whether an app may go on with a run of another version, once it was rehearsed. Nobody could name a run of no version. */
export const accepts = ({ accepts: named = [] }: Versioned, begun: string | undefined): boolean =>
  begun === undefined || named === '*' || named.includes(begun);

/** The versions among the options of an app that an adapter makes. */
export const versionsOf = (options: Versioned): Versioned => ({
  ...(options.version !== undefined && { version: options.version }),
  ...(options.accepts !== undefined && { accepts: options.accepts }),
  ...(options.onMismatch !== undefined && { onMismatch: options.onMismatch }),
});
