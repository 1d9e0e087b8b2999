/**
 * Marks an app that keeps its own place, as a graph with a checkpointer does: called again, it goes on from there, and makes none of the calls before it
 * again. Others begin from the beginning.
 */
export const GOES_ON: unique symbol = Symbol('goes on');

/** Whether an app is marked so. */
export const goesOn = (app: object): boolean => (app as { readonly [GOES_ON]?: boolean })[GOES_ON] === true;

/** The name under which a turn has the place that its app keeps. */
export const PLACE: unique symbol = Symbol('place');

/** The place of an app that goes on from one: what it needs for it, kept with the run like a step. */
export interface PlaceKeeper {
  /** The last kept value, of whichever process; undefined if there is none. */
  readonly kept: unknown;
  /** Number of blocks that the answer had then; 0 if nothing was kept. */
  readonly blocks: number;
  /** Keeps a JSON value in place of the last one. Resolves once it is stored. @throws GatewayError `PAYLOAD_TOO_LARGE` */
  keep(value: unknown): Promise<void>;
}

/** The name under which a turn has the steps of former processes. */
export const FORMER_STEPS: unique symbol = Symbol('former steps');

/** A step of a former process. Called again in its place, it gives the same. */
export interface FormerStep {
  readonly name: string;
  /** Its result; for a sleep the time of waking. Absent if it had not ended, or failed. */
  readonly value?: unknown;
}
