import { z } from 'zod';

/** Any value. JSON does not write what is undefined, so that the field may be absent from the wire and reads as undefined then. */
export const anything = z.unknown().optional() as unknown as z.ZodUnknown;
