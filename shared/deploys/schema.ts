import * as z from 'zod';

/** Fields of a held run. */
export const heldRunShape = { version: z.string().exactOptional(), by: z.string().exactOptional() };

/** Fields of the events of runs over deploys. */
export const deployEventShapes = {
  run_held: heldRunShape,
  run_taken_up: { version: z.string().exactOptional() },
};
