import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { demoCommand } from '../../server/cli/commands/demo.js';
import { devCommand } from '../../server/cli/commands/dev.js';
import { startCommand } from '../../server/cli/commands/start.js';
import type { Terminal } from '../../server/cli/terminal.js';
import { LOG_LEVELS } from '../../server/config/logger.js';
import { SCHEMA_VERSION as POSTGRES_SCHEMA } from '../../server/stores/postgres/schema.js';
import { SCHEMA_VERSION } from '../../server/stores/sqlite/schema.js';
import { PROTOCOL_RANGE } from '../../shared/version.js';
import { ROOT } from '../support/program.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const page = read('docs/configuration.md');

/** What the first cells of the tables of a section name. */
function named(heading: string, text = page): string[] {
  const section = text.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!);
}

/** Fields of an interface of the sources, its methods too. */
function fieldsOf(path: string, ...names: readonly string[]): string[] {
  const text = read(path).replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
  return names.flatMap((name) => {
    const declared = text.slice(text.search(new RegExp(`^(?:export )?(?:interface|type) ${name}\\b`, 'm')));
    const body = declared.slice(0, declared.search(/^(?:\}| {4}\};)$/m));
    return [...body.matchAll(/^ {2}(?: {4})?(?:readonly )?(\w+)(?:\??:|\()/gm)].map(([, field]) => field!);
  });
}

function environment(): Set<string> {
  const files = readdirSync(join(ROOT, 'server'), { recursive: true, encoding: 'utf8' });
  const code = files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`server/${name}`).replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, ''));
  const read_ = code.flatMap((text) => [
    ...[...text.matchAll(/\benv\.([A-Z][A-Z0-9_]*)/g)].map(([, name]) => name!),
    ...[...text.matchAll(/\.env\(\s*'([^']+)'/g)].map(([, name]) => name!),
    ...[...text.matchAll(/\{([^{}]*)\} = (?:process\.)?env;/g)].flatMap(([, names]) =>
      [...names!.matchAll(/\b([A-Z][A-Z0-9_]+)\b/g)].map(([, name]) => name!),
    ),
  ]);
  return new Set(read_);
}

describe('the page on configuration', () => {
  it('has every environment variable that the sources read, and no other', () => {
    expect(named('Environment variables')).to.have.members([...environment()]);
    expect(environment()).to.include('OPENAI_API_KEY').and.include('JWT_SECRET').and.include('LOG_LEVEL');
    expect(page).to.include(LOG_LEVELS.map((level) => `\`${level}\``).join(', '));
  });

  it('has every option of the commands that serve', () => {
    const terminal = {} as Terminal; // Nothing is run.
    const commands = [startCommand(terminal), devCommand(terminal), demoCommand(terminal)];
    const options = new Set(commands.flatMap(({ options: all }) => all.map(({ long }) => long!)));
    expect(named('Options of the commands that serve')).to.have.members([...options]);
  });

  it('has every field of a configuration, of authentication and of stores', () => {
    const config = [
      ...fieldsOf('server/config/config.ts', 'GatewayConfig'),
      ...fieldsOf('shared/budgets/options.ts', 'BudgetConfig'),
      ...fieldsOf('shared/notices/options.ts', 'NoticeConfig'),
    ];
    expect(config).to.include('apps').and.include('logger');
    expect(named('A gateway')).to.have.members(config);
    const auth = fieldsOf(
      'server/auth/types.ts',
      ...['Hydrated', 'TokenAuth', 'JwtRules', 'JwtKeySource', 'CustomAuth'],
    );
    expect(named('Authentication')).to.have.members([...new Set(auth)]);
    const stores = [
      ...fieldsOf('server/stores/sqlite/sqlite-store.ts', 'SqliteStoreOptions'),
      ...fieldsOf('server/stores/postgres/options.ts', 'PostgresStoreOptions'),
      ...fieldsOf('server/stores/redis/options.ts', 'RedisStoreOptions'),
      ...fieldsOf('server/stores/files/directory-file-store.ts', 'DirectoryFilesOptions'),
      ...fieldsOf('server/stores/files/memory-file-store.ts', 'MemoryFilesOptions'),
    ];
    // Stores may have options of the same name.
    expect([...new Set(named('Stores'))]).to.have.members([...new Set(stores)]);
  });
});

describe('the page on versions', () => {
  const versions = read('docs/versions.md');
  const rows = (heading: string): number[] => {
    const section = versions.split(/^## /m).find((one) => one.startsWith(`${heading}\n`))!;
    return [...section.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  };
  const upTo = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at);

  it('has every version of the protocol and of the schema', () => {
    expect(rows('The wire protocol')).to.deep.equal(upTo(PROTOCOL_RANGE.min, PROTOCOL_RANGE.max));
    expect(rows('The database file')).to.deep.equal([SCHEMA_VERSION]);
    expect(rows('The PostgreSQL schema')).to.deep.equal([POSTGRES_SCHEMA]);
  });
});
