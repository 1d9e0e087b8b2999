import * as z from 'zod';

/** The variants of a session. */
export const variantsSchema = z.record(z.string(), z.string());

/** Fields of the events of variants. */
export const variantEventShapes = { variant: { name: z.string(), choice: z.string() } };
