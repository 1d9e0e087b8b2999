import * as z from 'zod';
import type { GatewayEvent } from '../../shared/events.js';
import type { ActiveRun, SessionState } from '../../shared/fold.js';
import { ownKey } from '../ids.js';
import { kind } from '../records/kind.js';
import type { Mismatch } from '../runs/rehearsal.js';
import type { RecordChange } from '../stores/records.js';

/** A held run, as its record keeps it. */
export interface KeptHeld {
  readonly app: string;
  readonly version?: string;
  /** The version that could not go on with it. */
  readonly by?: string;
  /** The difference that its rehearsal met; absent if it does not accept the run's version. */
  readonly mismatch?: Mismatch;
  /** Time of the store's clock, in milliseconds since the epoch. */
  readonly since: number;
}

/** The owner of the held runs of an app. */
export const ownerOf = (app: string): string => ownKey('app', app);

/** The records of held runs. Their owner is their app, so that a gateway which serves it finds them. */
export const HELD_RUNS = kind<KeptHeld>({
  ...{ name: 'held-run', endsWith: 'conversation' },
  schema: z.object({
    ...{ app: z.string(), since: z.number() },
    ...{ version: z.string().exactOptional(), by: z.string().exactOptional() },
    mismatch: z.looseObject({}).exactOptional(),
  }) as unknown as z.ZodType<KeptHeld>,
  ownerOf: ({ app }) => ownerOf(app),
});

/** The run of this id in a state: the active one, or one beside the conversation. */
export const runIn = ({ run, lanes }: SessionState, runId: string): ActiveRun | undefined =>
  run?.runId === runId ? run : lanes?.find((lane) => lane.runId === runId);

/** Drops the records of runs that were held, and end or go on with these events. */
export function heldAfter(events: readonly GatewayEvent[], before: SessionState): readonly RecordChange[] {
  return events.flatMap((event) =>
    (event.type === 'message_end' || event.type === 'run_taken_up') && runIn(before, event.runId!)?.held
      ? [HELD_RUNS.drop(event.runId!)]
      : [],
  );
}
