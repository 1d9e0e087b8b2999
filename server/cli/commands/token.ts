import { randomBytes } from 'node:crypto';
import { GatewayError } from 'agent-session-gateway/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Terminal } from '../terminal.js';

/** Least bytes of a secret for HS256, and of a token for the gateway. */
const BYTES = 32;

interface JwtOptions {
  readonly secret?: string;
  readonly sub: string;
  readonly roles?: readonly string[];
  readonly tenant?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly expires: string;
  readonly claim?: Readonly<Record<string, unknown>>;
}

/** `token`: makes secrets, and JWTs for trying a gateway. */
export function tokenCommand(terminal: Terminal): Command {
  return new Command('token')
    .description('make a secret, or a JWT to try a gateway with')
    .addCommand(
      new Command('secret')
        .description(`a secret of ${BYTES} random bytes, for \`auth\` or GATEWAY_TOKEN`)
        .action(() => terminal.say(randomBytes(BYTES).toString('base64url'))),
      { isDefault: true },
    )
    .addCommand(jwtCommand(terminal));
}

function jwtCommand(terminal: Terminal): Command {
  return new Command('jwt')
    .description('a JWT signed with HS256')
    .addOption(
      new Option(
        '--secret <secret>',
        "the gateway's; better in the environment than on the command line",
      ).env('JWT_SECRET'),
    )
    .requiredOption('--sub <id>', 'the id of its user')
    .option('--roles <roles>', 'separated by commas', (text: string) => text.split(',').filter(Boolean))
    .option('--tenant <id>', 'as the claim tenantId')
    .option('--issuer <issuer>', 'as the claim iss')
    .option('--audience <audience>', 'as the claim aud')
    .option('--expires <time>', 'after this time, as 30s, 15m, 2h, 7d', timeOf, '1h')
    .option('--claim <name=value>', 'another claim; its value is JSON, or else text', addClaim)
    .action((options: JwtOptions) => jwt(options, terminal));
}

async function jwt(options: JwtOptions, terminal: Terminal): Promise<void> {
  const { secret, sub, roles, tenant, issuer, audience, expires, claim } = options;
  if (secret === undefined) {
    const message = 'Give the secret of the gateway with --secret or JWT_SECRET; `token secret` makes one';
    throw new GatewayError({ code: 'INVALID_REQUEST', message });
  }
  const claims = { ...claim, ...(roles && { roles }), ...(tenant !== undefined && { tenantId: tenant }) };
  const { SignJWT } = await import('jose');
  const token = new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime(expires);
  if (issuer !== undefined) token.setIssuer(issuer);
  if (audience !== undefined) token.setAudience(audience);
  if (Buffer.byteLength(secret) < BYTES)
    terminal.warn(`The secret has fewer than ${BYTES} bytes: a gateway that others can reach refuses it.`);
  terminal.say(await token.sign(Buffer.from(secret)));
}

function timeOf(text: string): string {
  if (/^[1-9]\d{0,5}[smhd]$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a number of seconds, minutes, hours or days: 30s, 15m, 2h, 7d.');
}

function addClaim(
  text: string,
  claims: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('It must be name=value.');
  try {
    return { ...claims, [name]: JSON.parse(value!) };
  } catch {
    return { ...claims, [name]: value };
  }
}
