import { decodeJwt } from 'jose';
import { PROTOCOL_RANGE } from '../../../shared/version.js';
import { type Finding, ok, problem } from './finding.js';
import type { ProbeResponse } from './probe.js';

/** Largest harmless difference of clocks: a greater one affects the expiry of tokens. The header counts in seconds. */
const SKEW_MS = 30_000;

/** Checks that the gateway's clock agrees with this machine's. */
export function examineClock({ headers }: ProbeResponse, now = Date.now()): Finding[] {
  const date = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(date)) return [];
  const skew = Math.round((date - now) / 1000);
  const about = 'clock';
  if (Math.abs(skew) * 1000 <= SKEW_MS) return [ok(about, 'the clocks agree')];
  return [
    problem(
      about,
      `the gateway's clock is ${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} this machine's`,
      'Set both by NTP: tokens are refused as expired, or as not valid yet.',
    ),
  ];
}

/** Checks that the gateway speaks a protocol version of this package. */
export function examineVersion({ body }: ProbeResponse): Finding[] {
  const theirs = body.protocol as { readonly min?: unknown; readonly max?: unknown } | undefined;
  const { min, max } = theirs ?? {};
  if (typeof min !== 'number' || typeof max !== 'number') return [];
  const ours = PROTOCOL_RANGE;
  const about = 'version';
  if (max >= ours.min && min <= ours.max) return [ok(about, `protocol ${Math.min(max, ours.max)}`)];
  const range = (of: { min: number; max: number }) =>
    of.min === of.max ? `${of.min}` : `${of.min} to ${of.max}`;
  const older = max < ours.min ? 'the gateway' : 'this package, and the clients';
  return [
    problem(
      about,
      `the gateway speaks protocol ${range({ min, max })}, this package ${range(ours)}`,
      `Update ${older}: npm install agent-session-gateway@latest`,
    ),
  ];
}

/** Reports the user that the gateway recognizes, or the reason why it recognizes none. */
export function examineIdentity(
  { status, error, body, headers }: ProbeResponse,
  token: string | undefined,
): Finding[] {
  const about = 'token';
  if (error === undefined) {
    const user = (body.user as { readonly id?: unknown } | null | undefined)?.id;
    return [
      ok(
        about,
        user === undefined ? 'nobody has to say who they are' : `you are the user ${JSON.stringify(user)}`,
      ),
    ];
  }
  if (error.code === 'ORIGIN_DENIED') return [problem('host name', error.message, hostFix(error.message))];
  if (status === 401) return [refused(token, headers)];
  if (status === 429)
    return [
      problem(
        about,
        'this address has failed too often, or asks too much, and is refused unheard',
        `Wait ${headers.get('retry-after') ?? 'some'} s. Behind a proxy set trustProxy, so that failures count against clients.`,
      ),
    ];
  if (status === 403)
    return [
      problem(
        about,
        `the gateway knows you, and denies it: ${error.message}`,
        'Ask for the role, or look at the guard.',
      ),
    ];
  return [
    problem(
      'gateway',
      `it answers ${error.code} (${status}): ${error.message}`,
      'docs/errors.md has every code; the log of the gateway says more.',
    ),
  ];
}

function hostFix(message: string): string {
  return /allowedHosts/.test(message)
    ? 'Name it in the option allowedHosts of the gateway; a proxy in front has to pass the Host header on.'
    : 'Look at the options origins and allowedHosts of the gateway.';
}

function refused(token: string | undefined, headers: Headers): Finding {
  const about = 'token';
  if (token === undefined)
    return problem(
      about,
      'the gateway wants to know who you are',
      'Give a token with --token or AGENT_SESSION_GATEWAY_TOKEN; `demo` and `dev` print theirs.',
    );
  const wrapping = /^\s|\s$|^["']|["']$|^bearer /i.exec(token);
  if (wrapping !== null)
    return problem(
      about,
      'the token is refused, and it has blanks, quotes or the word Bearer around it',
      'Give the token alone.',
    );
  const claims = claimsOf(token);
  if (claims === undefined)
    return problem(
      about,
      'the token is refused',
      'Compare it with `auth` of the gateway. A demo or dev gateway makes a new one at each start unless GATEWAY_TOKEN is set.',
    );
  const now = Date.parse(headers.get('date') ?? '') / 1000 || Date.now() / 1000;
  if (claims.exp !== undefined && claims.exp <= now)
    return problem(
      about,
      `the token expired ${Math.round(now - claims.exp)} s ago by the gateway's clock`,
      'Get a new one, and have clients renew theirs: `token` of the client may be a function.',
    );
  if (claims.nbf !== undefined && claims.nbf > now)
    return problem(
      about,
      `the token is not valid before ${Math.round(claims.nbf - now)} s from now by the gateway's clock`,
      'Wait, or set the clocks of the gateway and of who issues tokens.',
    );
  return problem(
    about,
    `the JWT is refused; it says iss ${JSON.stringify(claims.iss)}, aud ${JSON.stringify(claims.aud)}, sub ${JSON.stringify(claims.sub)}`,
    'Compare these, its algorithm and the key it is signed with, with `auth` of the gateway, whose log says which it was.',
  );
}

function claimsOf(token: string): ReturnType<typeof decodeJwt> | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}
