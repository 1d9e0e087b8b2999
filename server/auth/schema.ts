import * as z from 'zod';
import { parseUrl } from '../../shared/parse-url.js';
import {
  type AuthConfig,
  type CustomAuth,
  type HydrateUser,
  JWT_ALGORITHMS,
  type JwtAuth,
  type JwtSecretSource,
  type TokenSource,
  type UserLike,
} from './types.js';

const fn = <T>(message: string) => z.custom<T>((value) => typeof value === 'function', message);
const text = (message: string) => z.string(message).min(1, message);

const hydrateUser = fn<HydrateUser>('must be a function that returns a user').optional();

const user = z
  .looseObject({
    id: text('must be a non-empty string'),
    roles: z.array(z.string(), 'must be an array of strings').optional(),
    tenantId: z.string('must be a string').optional(),
    email: z.string('must be a string').optional(),
    service: z.boolean('must be true or false').optional(),
  })
  .transform((value) => value as UserLike);

const tokenMessage =
  'must be a non-empty string, an array of them, or a function that returns either (is it set?)';
const token = z.custom<TokenSource>((value) => {
  if (typeof value === 'function') return true;
  const tokens: readonly unknown[] = Array.isArray(value) ? value : [value];
  return tokens.length > 0 && tokens.every((one) => typeof one === 'string' && one !== '');
}, tokenMessage);

const secretMessage =
  'must be a non-empty string or Buffer (is it set?), an array of them, or a function that returns either, or name jwksUri';
const secret = z.custom<JwtSecretSource>((value) => {
  if (typeof value === 'function') return true;
  const secrets: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isSecret = (one: unknown): boolean =>
    (typeof one === 'string' || one instanceof Uint8Array) && one.length > 0;
  return secrets.length > 0 && secrets.every(isSecret);
}, secretMessage);

const jwksUri = z.string('must be a URL (is it set?)').refine((value) => {
  const url = parseUrl(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}, 'must be an https: URL without credentials, such as https://example.com/.well-known/jwks.json');

const periodMessage = 'must be a number of milliseconds, 0 or more';
const period = z.number(periodMessage).min(0, periodMessage).optional();
const timeoutMessage = 'must be a number of milliseconds from 1 to 60,000';
const jwks = z.strictObject({
  timeoutMs: z.number(timeoutMessage).min(1, timeoutMessage).max(60_000, timeoutMessage).optional(),
  cooldownMs: period,
  maxAgeMs: period,
});

const textOrTexts = (message: string) =>
  z.union([text(message), z.array(text(message)).min(1, message)], message).optional();

const toleranceMessage = 'must be a number of seconds from 0 to 300';

const jwt = z
  .strictObject({
    type: z.literal('jwt'),
    secret: secret.optional(),
    jwksUri: jwksUri.optional(),
    jwks: jwks.optional(),
    issuer: textOrTexts('must be a non-empty string or an array of them'),
    audience: textOrTexts('must be a non-empty string or an array of them'),
    algorithms: z
      .array(
        z.enum(JWT_ALGORITHMS, `must be one of ${JWT_ALGORITHMS.join(', ')}`),
        'must be an array of algorithms',
      )
      .min(1, 'must name at least one algorithm')
      .optional(),
    requireExp: z.boolean('must be true or false').optional(),
    clockToleranceSeconds: z
      .number(toleranceMessage)
      .min(0, toleranceMessage)
      .max(300, toleranceMessage)
      .optional(),
    hydrateUser,
  })
  .superRefine(({ secret, jwksUri, jwks }, context) => {
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (secret === undefined && jwksUri === undefined) refuse('secret', secretMessage);
    if (secret !== undefined && jwksUri !== undefined)
      refuse('jwksUri', 'stands instead of secret, not beside it');
    if (jwks !== undefined && jwksUri === undefined)
      refuse('jwks', 'says how jwksUri is fetched, which is missing');
  })
  .transform((value) => value as JwtAuth);

/** Checks `auth`; issue paths are relative to it. An unknown field is refused, since it may be a misspelt check. */
export const authConfigSchema: z.ZodType<AuthConfig> = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('none'), hydrateUser }),
    z.strictObject({ type: z.literal('token'), token, user: user.optional(), hydrateUser }),
    jwt,
    z.strictObject({
      type: z.literal('custom'),
      validate: fn<CustomAuth['validate']>('must be a function that returns { valid, user }'),
      cookies: z.boolean('must be true or false').optional(),
      hydrateUser,
    }),
  ],
  { error: "type must be 'none', 'token', 'jwt' or 'custom'" },
);
