import * as z from 'zod';

/** Any value. JSON drops `undefined`, so that the field may be absent from the wire and then reads as undefined. */
export const anything = z.unknown().optional() as unknown as z.ZodUnknown;
