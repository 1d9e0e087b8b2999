import * as z from 'zod';
import { GRANT_ROLES, HIDDEN_PARTS } from '../grants.js';
import { idSchema } from '../values/schema.js';

const as = z.enum(GRANT_ROLES);
const hide = z.array(z.enum(HIDDEN_PARTS));

/** Fields that say what a grant allows, and until when. */
export const grantShape = {
  grantId: z.string(),
  as,
  hide: hide.exactOptional(),
  by: z.string(),
  expiresAt: z.number().exactOptional(),
};

/** A grant as operations answer it. */
export const grantSchema = z.object({
  ...grantShape,
  sessionId: z.string(),
  with: z.union([z.object({ userId: z.string() }), z.object({ link: z.literal(true) })]),
  at: z.number(),
});

/** The grant that reaches a session of a list. */
export const sharedBySchema = z.object({ grantId: z.string(), as, by: z.string() });

/** Params of the operations on grants beside their session. */
export const sharingShape = {
  with: z.union([z.strictObject({ userId: idSchema }), z.strictObject({ link: z.literal(true) })]),
  as,
  expiresInMs: z.number().positive().max(3.2e12).optional(),
  hide: hide.max(HIDDEN_PARTS.length).optional(),
};

/** The id of a grant in a request. */
export const grantIdSchema = idSchema;
