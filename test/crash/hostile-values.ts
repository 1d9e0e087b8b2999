import { GatewayError } from '../../server/index.js';
import { todays } from '../support/daily.js';

class Account {
  readonly #secret = 1;
  get balance(): number {
    return this.#secret;
  }
}

function cycle(): object {
  const response: Record<string, unknown> = { status: 500 };
  response.request = { response };
  return response;
}

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

function failing(): never {
  throw new Error('not to be looked at');
}

/** Everything else of this kind is an object whose one field does it. */
const GETTER = Object.freeze(Object.defineProperty({}, 'field', { get: failing, enumerable: true }));

/** Name of the value that is only large. */
export const LARGE = '5 MB of text';

/** Values that host code, a library below it or a caller's data may turn up with, by name. Each is made anew. */
const ALL: Readonly<Record<string, () => unknown>> = {
  cycle,
  bigint: () => 10n,
  'object with a bigint': () => ({ amount: 10n }),
  'throwing getter': () => GETTER,
  'throwing toJSON': () => ({ toJSON: failing }),
  'throwing then': () => Object.defineProperty({}, 'then', { get: failing }),
  'revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  'proxy that throws': () =>
    new Proxy({}, { get: failing, has: failing, ownKeys: failing, getPrototypeOf: failing }),
  symbol: () => Symbol('s'),
  function: () => failing,
  undefined: () => undefined,
  null: () => null,
  zero: () => 0,
  NaN: () => Number.NaN,
  'empty string': () => '',
  error: () => new Error('secret /path'),
  'error with a circular cause': () => {
    const error = new Error('upstream failed', { cause: cycle() });
    (error.cause as { error?: unknown }).error = error;
    return error;
  },
  'error whose message throws': () => Object.defineProperty(new Error('x'), 'message', { get: failing }),
  'error without a prototype': () => Object.setPrototypeOf(new Error('x'), null),
  'GatewayError with a bigint in details': () =>
    new GatewayError({ code: 'LIMIT', status: 409, details: { have: 10n } }),
  'GatewayError with circular details': () =>
    new GatewayError({ code: 'LIMIT', status: 409, details: cycle() }),
  'GatewayError of status 1000': () => new GatewayError({ code: 'LIMIT', status: 1000 }),
  'GatewayError of status 100': () => new GatewayError({ code: 'LIMIT', status: 100 }),
  'GatewayError of status x': () => new GatewayError({ code: 'LIMIT', status: 'x' as never }),
  'GatewayError of a code that is none': () => new GatewayError({ code: 5 as never }),
  'GatewayError with a retry of NaN': () =>
    new GatewayError({ code: 'RATE_LIMITED', retryAfterMs: Number.NaN }),
  'GatewayError with a forged request id': () =>
    new GatewayError({ code: 'LIMIT', status: 409, requestId: 'a\r\nb: c' }),
  [LARGE]: () => 'x'.repeat(5_000_000),
  map: () => new Map([[{}, new Map()]]),
  'invalid date': () => new Date(Number.NaN),
  'instance of a class': () => new Account(),
  '100,000 levels': () => nested(100_000),
};

/** Those of the day. */
export const HOSTILE_VALUES: Readonly<Record<string, () => unknown>> = Object.fromEntries(
  todays(Object.entries(ALL), 3),
);
