import { z } from 'zod';

const endpoint = z.string().min(1).max(2048);
/** Base64url, as browsers write it, of so many bytes. */
const bytes = (count: number) =>
  z
    .string()
    .regex(new RegExp(`^[A-Za-z0-9_-]{${Math.ceil((count * 4) / 3)}}=*$`), `${count} bytes in base64url`);

/** Params of `push`. What else a browser says of its subscription, such as when it expires, is left out by the client. */
export const pushShape = {
  add: z.strictObject({ endpoint, keys: z.strictObject({ p256dh: bytes(65), auth: bytes(16) }) }).optional(),
  remove: endpoint.optional(),
};
