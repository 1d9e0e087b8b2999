import { expect } from 'chai';
import { createGateway, DEFAULT_LIMITS, type GatewayConfig, isGatewayError } from '../../server/index.js';
import { mcpServerPlugin } from '../../server/plugins/mcp/index.js';
import { echo } from '../support/apps.js';

const LONGEST_MS = 2 ** 31 - 1;
const WRONG = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 0.5, '5'] as const;
type Given = (typeof WRONG)[number];

/** The names that a configuration is refused by; none if it is taken. */
function refusedBy(config: object): readonly string[] {
  try {
    createGateway({ app: echo, ...config } as GatewayConfig);
    return [];
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return (error.details as { path: string }[]).map(({ path }) => path);
  }
}

/** A configuration with a number at a path. */
const at = (path: string, value: unknown): object =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;

const namesOf = (group: object, path: string): string[] =>
  Object.entries(group).flatMap(([name, value]) =>
    typeof value === 'object' ? namesOf(value, `${path}.${name}`) : [`${path}.${name}`],
  );

const NONE_TOO = [
  'auditMs',
  'queueLength',
  'disconnectGraceMs',
  'drainMs',
  'lameDuckMs',
  'storeMs',
  'loopDelayMs',
  'gatherMs',
];
const AGES = [
  'auditMs',
  'unnamedFileMs',
  'ageMs',
  'scheduleMinMs',
  'scheduleGraceMs',
  'slowClientMs',
  'streamMs',
];

/** What a limit takes of the odd numbers, by its name. */
function takes(path: string, value: Given): boolean {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (typeof value === 'string' || Number.isNaN(value) || value < 0) return false;
  if (value === 0) return NONE_TOO.includes(name);
  const isTime = name.endsWith('Ms');
  if (value === Number.POSITIVE_INFINITY) return !['heartbeatMs', 'gatherMs', 'backlog'].includes(name);
  if (name === 'heapShare' && Number.isFinite(value)) return value <= 1;
  if (value > LONGEST_MS) return !isTime || AGES.includes(name);
  return Number.isInteger(value) || isTime || name.endsWith('PerSecond');
}

describe('numbers of a configuration', () => {
  for (const path of namesOf(DEFAULT_LIMITS, 'limits'))
    it(`${path}: what is out of its range is refused by its name`, () => {
      for (const value of WRONG)
        expect(refusedBy(at(path, value)), `${value}`).to.deep.equal(takes(path, value) ? [] : [path]);
    });

  const others: readonly (readonly [string, (path: string, value: unknown) => object, readonly Given[]])[] = [
    ['port', at, [0]],
    ['trustProxy', at, [0, 2 ** 31, '5']],
    ['notify.unseenMs', at, [0, 2 ** 31, 0.5]],
    ['auth.jwks.timeoutMs', withKeys, []],
    ['auth.jwks.cooldownMs', withKeys, [0, 2 ** 31, 0.5]],
    ['auth.jwks.maxAgeMs', withKeys, [0, 2 ** 31, 0.5]],
  ];
  for (const [path, given, taken] of others)
    it(`${path}: what is out of its range is refused by its name`, () => {
      for (const value of WRONG)
        expect(refusedBy(given(path, value)), `${value}`).to.deep.equal(taken.includes(value) ? [] : [path]);
    });

  for (const name of ['idleMs', 'sessionsPerUser', 'sessions', 'replayMessages', 'replaySize', 'answerMs'])
    it(`limits.${name} of the MCP plugin: what is out of its range is refused by its name`, () => {
      for (const value of [0, -1, Number.NaN, '5'])
        expect(() => mcpServerPlugin({ sessionId: 'main', limits: { [name]: value } }), `${value}`).to.throw(
          `limits.${name}`,
        );
    });
});

function withKeys(path: string, value: unknown): object {
  const jwks = { [path.slice(path.lastIndexOf('.') + 1)]: value };
  return { auth: { type: 'jwt', jwksUri: 'https://keys.example/jwks', issuer: 'i', audience: 'a', jwks } };
}
