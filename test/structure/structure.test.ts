import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
// @ts-expect-error It has no types.
import { BUNDLED } from '../../scripts/bundle/chunks.mjs';
import { ERROR_TABLE } from '../../shared/errors.js';
import { ROOT } from '../support/program.js';
import {
  findCycles,
  findFolderCycles,
  type Import,
  importsOf,
  packageOf,
  readSources,
  type SourceFile,
} from './sources.js';

/** A file that is longer is looked at again, as to whether it is one story. */
const REVIEW_LINES = 300;
/** Most lines of a file of the server. */
const MOST_LINES = 350;
const shared = readSources('shared');
const client = readSources('client');
const server = readSources('server');
const kit = readSources('testing');
const product = [...shared, ...client, ...server, ...kit];

/** Imports that break a rule, as readable lines. */
function offences(
  files: readonly SourceFile[],
  breaks: (found: Import, file: SourceFile) => boolean,
): string[] {
  return files.flatMap((file) =>
    file.imports.filter((found) => breaks(found, file)).map(({ target }) => `${file.path} imports ${target}`),
  );
}

const isBelow = (folder: string, { ours, target }: Import): boolean =>
  ours && target.startsWith(`${folder}/`);

const frameworkOf = (path: string): string | undefined => /^client\/(react|vue|svelte)\//.exec(path)?.[1];

describe('imports', () => {
  it('are read in every form', () => {
    const text = `import type { A } from './a.js';
import {
  b,
} from '../b.js';
export * from './c.js';
import 'side';
const d = await import('openai');
export const e = 'not from "here"';`;
    expect(importsOf('server/x/y.ts', text)).to.deep.equal([
      { target: 'server/x/a.ts', typeOnly: true, ours: true },
      { target: 'server/b.ts', typeOnly: false, ours: true },
      { target: 'server/x/c.ts', typeOnly: false, ours: true },
      { target: 'side', typeOnly: false, ours: false },
      { target: 'openai', typeOnly: false, ours: false },
    ]);
  });

  it('of ours name files that exist', () => {
    const paths = new Set(product.map(({ path }) => path));
    expect(offences(product, ({ ours, target }) => ours && !paths.has(target))).to.deep.equal([]);
  });

  it('of shared stay in shared, without Node', () => {
    const allowed = new Set(['zod', '@standard-schema/spec', 'eventsource-parser']);
    expect(
      offences(shared, (found) =>
        found.ours ? !isBelow('shared', found) : !allowed.has(packageOf(found.target)),
      ),
    ).to.deep.equal([]);
  });

  it('of shared reach zod in schemas alone', () => {
    expect(
      offences(
        shared,
        ({ target }, { path }) =>
          target === 'zod' && !/^shared\/(?:schemas\/|[a-z-]+\/schema\.ts)/.test(path),
      ),
    ).to.deep.equal([]);
  });

  it('of the client stay in client and shared, without Node or packages; client/node has Node', () => {
    const inNode = (path: string) => path.startsWith('client/node/');
    expect(
      offences(client, (found, { path }) => {
        if (!found.ours && isBuiltin(found.target)) return !inNode(path);
        if (frameworkOf(path) === packageOf(found.target)) return false;
        return !(isBelow('client', found) || isBelow('shared', found));
      }),
    ).to.deep.equal([]);
    expect(
      offences(client, (found, { path }) => isBelow('client/node', found) && !inNode(path)),
    ).to.deep.equal([]);
  });

  it('of the server never reach the client, and only packages that are installed with it, or in it', () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const known = new Set([...Object.keys({ ...dependencies, ...peerDependencies }), ...BUNDLED]);
    // Commands use the package as its users do.
    const mayUse = (target: string, path: string) =>
      isBuiltin(target) ||
      known.has(packageOf(target)) ||
      (path.startsWith('server/cli/') && packageOf(target) === 'agent-session-gateway');
    expect(
      offences(server, (found, { path }) =>
        found.ours ? !(isBelow('server', found) || isBelow('shared', found)) : !mayUse(found.target, path),
      ),
    ).to.deep.equal([]);
    expect(
      offences(server, ({ ours, target }) => !ours && isBuiltin(target) && !target.startsWith('node:')),
    ).to.deep.equal([]);
  });

  it('of a replaceable package are in one file', () => {
    for (const name of [
      'ws',
      'express',
      'zod-to-json-schema',
      '@cfworker/json-schema',
      'openai',
      'libsql',
      'pg',
      '@redis/client',
      'json-schema-to-typescript',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/node',
    ]) {
      const users = server.filter(({ imports }) =>
        imports.some(({ ours, target }) => !ours && packageOf(target) === name),
      );
      expect(users.length, `${name} in ${users.map(({ path }) => path)}`).to.be.at.most(1);
    }
  });

  it('of the core know no transport, adapter, plugin or assembly', () => {
    const core =
      /^server\/(apps|auth|cluster|delivery|due|held|limits|log|methods|operations|runs|schema|sessions|stores)\//;
    const outer =
      /^server\/(adapters|app-adapters|cli|demo|documents|gateway|nest|plugins|transports)\/|^server\/index\.ts$/;
    expect(offences(server, ({ target }, { path }) => core.test(path) && outer.test(target))).to.deep.equal(
      [],
    );
  });

  it('of one transport know no other, but for what all share', () => {
    const kind = (path: string) => /^server\/transports\/([^/]+)\//.exec(path)?.[1];
    expect(
      offences(server, ({ target }, { path }) => {
        const [own, other] = [kind(path), kind(target)];
        return own !== undefined && other !== undefined && own !== other && other !== 'frames';
      }),
    ).to.deep.equal([]);
  });

  it('of app adapters know what apps are written with, and no other adapter', () => {
    const known =
      /^server\/(app-adapters|apps|chat-format|schema)\/|^server\/(runs\/tool-error|runtime\/(optional-peer|signature)|async\/maybe-promise|diagnostics\/(channels|model-call|messages)|ids|plugins\/plugin|transports\/http\/plugin-route)\.ts$/;
    const kind = (path: string) => /^server\/app-adapters\/([^/]+)\//.exec(path)?.[1];
    const adapters = server.filter(({ path }) => path.startsWith('server/app-adapters/'));
    expect(adapters).to.not.deep.equal([]);
    expect(
      offences(adapters, (found, { path }) => {
        if (!found.ours || isBelow('shared', found)) return false;
        const other = kind(found.target);
        return !known.test(found.target) || (other !== undefined && other !== kind(path));
      }),
    ).to.deep.equal([]);
  });

  it('of optional peers are types, or happen when they are used', () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const peers = Object.keys(peerDependencies);
    // A framework is there before a subpath that is written in it is imported.
    const others = product.filter(
      ({ path }) => !/^(?:server\/nest|client\/(?:react|vue|svelte)|testing\/stores)\//.test(path),
    );
    expect(
      others.flatMap(({ path, text }) =>
        [...text.matchAll(/^(?:import|export)\s+(?!type\b)[^'";]*?\sfrom\s+'([^']+)'|^import\s+'([^']+)'/gm)]
          .filter(([, from, bare]) => peers.includes(packageOf((from ?? bare)!)))
          .map(([line]) => `${path}: ${line}`),
      ),
    ).to.deep.equal([]);
  });

  it('of a plugin reach the gateway through its context alone', () => {
    const inside =
      /^server\/(auth|cluster|delivery|due|gateway|held|host|limits|log|methods|operations|runs|sessions|stores|transports)\/|^server\/(index|plugins\/plugin-[a-z]+)\.ts$/;
    expect(
      offences(
        server,
        ({ target, typeOnly }, { path }) =>
          /^server\/plugins\/[^/]+\//.test(path) && !typeOnly && inside.test(target),
      ),
    ).to.deep.equal([]);
  });

  it('of a feature know no other feature, and only the list of them and tests know it', () => {
    const featureOf = (path: string): string | undefined => /^server\/features\/([^/]+)\//.exec(path)?.[1];
    expect(new Set(server.map(({ path }) => featureOf(path))).size).to.be.above(3);
    // Users' entry of notices is one of its files, and the types of all are the package's. The testing kit replays recordings.
    const outer = (path: string, target: string): boolean =>
      path === 'server/features/features.ts' ||
      (path.startsWith('testing/') && featureOf(target) === 'recording') ||
      (path === 'server/index.ts' && /\/(?:index|types)\.ts$/.test(target));
    expect(
      offences(product, ({ target }, { path }) => {
        const other = featureOf(target);
        return other !== undefined && other !== featureOf(path) && !outer(path, target);
      }),
    ).to.deep.equal([]);
    // The contract of each is told to all, and its words to the lists.
    expect(
      offences(server, ({ target, typeOnly }, { path }) => {
        const contract = /^shared\/(schedules|search|notices|inbox|presence|reactions|files)\//.exec(
          target,
        )?.[1];
        return contract !== undefined && !typeOnly && contract !== featureOf(path);
      }),
    ).to.deep.equal([]);
  });

  it('of documents know of transports what their routes are', () => {
    const documents = server.filter(({ path }) => path.startsWith('server/documents/'));
    const inner =
      /^(?:shared|server\/(?:documents|auth|methods|schema))\/|^server\/transports\/http\/routes\.ts$/;
    expect(offences(documents, ({ ours, target }) => ours && !inner.test(target))).to.deep.equal([]);
  });

  it('of stores know nobody above them', () => {
    const above = /^server\/(?!stores\/|sockets\/|async\/(?:maybe-promise|deadlines?|turn)\.ts)/;
    const stores = server.filter(({ path }) => path.startsWith('server/stores/'));
    expect(offences(stores, ({ target }) => above.test(target))).to.deep.equal([]);
  });

  it('of generators and commands are nobody else’s; they know the package by its name, and the demo', () => {
    const outside = server.filter(({ path }) => !/^server\/(?:codegen|cli)\//.test(path));
    const tools = server.filter(({ path }) => /^server\/(?:codegen|cli)\//.test(path));
    expect(
      offences(outside, (found) => isBelow('server/codegen', found) || isBelow('server/cli', found)),
    ).to.deep.equal([]);
    const own =
      /^(?:shared|server\/(?:codegen|cli|copies|schema))\/|^server\/runtime\/(?:optional-peer|node-version|package-files|stop-on-signals|process-logger|resolve-from|secret-files|signature|store-at)\.ts$|^server\/demo\/(?:run-demo|settings)\.ts$/;
    expect(offences(tools, ({ ours, target }) => ours && !own.test(target))).to.deep.equal([]);
    expect(
      offences(tools, (found, { path }) => isBelow('server/cli', found) && /codegen/.test(path)),
    ).to.deep.equal([]);
  });

  it('of Nest are in its own folder, which nobody else reaches', () => {
    const inNest = (path: string) => path.startsWith('server/nest/');
    const nest = /^@nestjs\/|^rxjs$|^reflect-metadata$/;
    const others = product.filter(({ path }) => !inNest(path));
    expect(
      offences(others, (found) => nest.test(found.target) || isBelow('server/nest', found)),
    ).to.deep.equal([]);
  });

  it('of hooks know one framework each, and are nobody else’s', () => {
    const frameworkOf = (path: string) => /^client\/(react|vue|svelte)\//.exec(path)?.[1];
    expect(
      offences(client, ({ ours, target }, { path }) => {
        const own = frameworkOf(path);
        return ours
          ? ![undefined, own].includes(frameworkOf(target))
          : own !== undefined && packageOf(target) !== own;
      }),
    ).to.deep.equal([]);
    const outside = client.filter(({ path }) => !/^client\/(?:hooks|react|vue|svelte)\//.test(path));
    expect(offences(outside, (found) => isBelow('client/hooks', found))).to.deep.equal([]);
  });

  it('of the demo are nobody else’s, but for the command that runs it', () => {
    const others = product.filter(
      ({ path }) => !/^server\/(?:demo\/|cli\/commands\/demo\.ts|cli\/serve\/demo-worker\.ts)/.test(path),
    );
    expect(offences(others, (found) => isBelow('server/demo', found))).to.deep.equal([]);
  });

  it('of the playground use the client by its name, what is pure of shared, and components that are copied', () => {
    const playground = readSources('playground').filter(({ path }) => !path.endsWith('vite.config.ts'));
    expect(playground.length).to.be.above(30);
    const used = new Set(['react', 'react-dom', 'marked', 'lucide-react', 'highlight.js']);
    const named =
      /^agent-session-gateway\/client(?:\/(?:react|files|history|inbox|people|runs|schedules|search))?$/;
    const pure = /^shared\/(?:calls|cursor|events|failure|messages)\.ts$/;
    expect(
      offences(playground, (found) =>
        found.ours
          ? !isBelow('playground', found) &&
            !isBelow('templates/components', found) &&
            !pure.test(found.target)
          : !used.has(packageOf(found.target)) && !named.test(found.target),
      ),
    ).to.deep.equal([]);
    const page = /^(?:vite|marked)$|^playground\//;
    expect(offences(product, ({ target }) => page.test(target))).to.deep.equal([]);
  });

  it('of the testing kit are what users have of client and server, and nobody reaches it', () => {
    const own =
      /^(?:shared|testing)\/|^(?:client|server)\/index\.ts$|^server\/features\/recording\/|^server\/(?:gateway\/gateway|stores\/index|runtime\/optional-peer)\.ts$/;
    expect(offences(kit, ({ ours, target }) => ours && !own.test(target))).to.deep.equal([]);
    const others = [...shared, ...client, ...server];
    expect(offences(others, (found) => isBelow('testing', found))).to.deep.equal([]);
  });

  it('of examples use the package by its name', () => {
    const beyond = (found: Import) => found.ours && !isBelow('examples', found);
    expect(offences(readSources('examples'), beyond)).to.deep.equal([]);
  });

  it('make no cycle of files at run time', () => {
    expect(findCycles(product)).to.deep.equal([]);
    expect(findCycles(planted('a.ts', 'b.ts'))).to.deep.equal([['a.ts', 'b.ts', 'a.ts']]);
  });

  it('make no cycle of folders, types included', () => {
    expect(findFolderCycles(product)).to.deep.equal([]);
    expect(findFolderCycles(planted('server/a/x.ts', 'server/b/y.ts'))).to.deep.equal([
      ['server/a/', 'server/b/'],
    ]);
    expect(findFolderCycles(planted('server/a/x.ts', 'server/y.ts'))).to.deep.equal([
      ['server/a/', 'server/y.ts'],
    ]);
    expect(findFolderCycles(planted('server/a/x.ts', 'server/a/y.ts'))).to.deep.equal([]);
  });
});

/** Two files that import each other's types. */
function planted(...paths: [string, string]): SourceFile[] {
  return paths.map((path, at) => ({
    path,
    text: '',
    imports: [{ target: paths[1 - at]!, typeOnly: path.includes('/'), ours: true }],
  }));
}

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

describe('files', () => {
  it('have kebab-case names', () => {
    const named = [...product, ...readSources('test', 'examples', 'scripts')].filter(
      ({ path }) =>
        !/\/[a-z0-9]+(?:-[a-z0-9]+)*(?:(?:\.slow|\.package|\.cluster|\.quiet|\.long)?\.test|\.d|\.config)?\.[mc]?[jt]sx?$/.test(
          path,
        ),
    );
    expect(named.map(({ path }) => path)).to.deep.equal([]);
  });

  it('of the server have 350 lines at most', () => {
    const long = server.filter(({ text }) => linesOf(text) > MOST_LINES).map(({ path }) => path);
    expect(long).to.deep.equal([]);
  });

  after('say which of them are long', () => {
    const long = product
      .map(({ path, text }) => ({ path, lines: linesOf(text) }))
      .filter(({ lines }) => lines > REVIEW_LINES)
      .sort((a, b) => b.lines - a.lines);
    console.log(`    to review, above ${REVIEW_LINES} lines:`);
    for (const { path, lines } of long) console.log(`      ${lines} ${path}`);
  });
});

/** Names of types that two files have: stores and sessions have them, or two public entries. None is to be added. */
const SHARED_NAMES =
  'Answer Asked Client ClientOptions Confirmation ConvertedMessage Drafts EventReader ExportOptions ImportOptions LangGraphOptions Link Script SessionOptions SessionRuns Shared StreamOptions Wire';

/** Nouns that end as gerunds do. */
const NOUNS = [
  'Finding',
  'SessionSharing',
  'LogBeginning',
  'Beginning',
  'Ending',
  'CausedEnding',
  'ConnectionEnding',
  'RunSetting',
];

const DECLARED = /^(?:export )?(?:declare )?(?:abstract )?(class|interface|type) ([A-Z][A-Za-z0-9]*)/gm;

/** Names of types that are declared in more than one of the files, sorted. */
function sharedNames(files: readonly Pick<SourceFile, 'path' | 'text'>[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const [, , name] of text.matchAll(DECLARED)) {
      places.set(name!, (places.get(name!) ?? new Set()).add(path));
    }
  }
  return [...places]
    .filter(([, paths]) => paths.size > 1)
    .map(([name]) => name)
    .sort();
}

/** Names of classes and interfaces that end as gerunds do and are no noun, sorted. */
function gerunds(files: readonly Pick<SourceFile, 'text'>[]): string[] {
  const names = files.flatMap(({ text }) =>
    [...text.matchAll(DECLARED)].filter(([, kind]) => kind !== 'type').map(([, , name]) => name!),
  );
  return [...new Set(names)]
    .filter((name) => /ing$/.test(name) && !/(?:Thing|String)$/.test(name) && !NOUNS.includes(name))
    .sort();
}

describe('names of types', () => {
  it('are in one file each', () => {
    expect(sharedNames(product)).to.deep.equal(SHARED_NAMES.split(' '));
    const twice = ['a.ts', 'b.ts'].map((path) => ({ path, text: 'interface Place {}' }));
    expect(sharedNames(twice)).to.deep.equal(['Place']);
  });

  it('are nouns', () => {
    expect(gerunds(product)).to.deep.equal([]);
    expect(gerunds([{ text: 'export class Sending {' }])).to.deep.equal(['Sending']);
  });
});

describe('error codes', () => {
  const codes = Object.keys(ERROR_TABLE);

  it('that are thrown are in the table', () => {
    const thrown = product
      .filter(({ path }) => !path.startsWith('server/demo/'))
      .flatMap(({ text }) => [...text.matchAll(/\bcode: '([A-Z_]+)'/g)].map(([, code]) => code!));
    expect([...new Set(thrown)].filter((code) => !codes.includes(code))).to.deep.equal([]);
  });

  it('of the table are used', () => {
    const elsewhere = product.filter(({ path }) => path !== 'shared/errors.ts').map(({ text }) => text);
    const unused = codes.filter((code) => !elsewhere.some((text) => text.includes(`'${code}'`)));
    // Of GUARD_DENIED a class makes sure; ACCESS_DENIED is there for what hosts refuse.
    expect(unused.filter((code) => !['GUARD_DENIED', 'ACCESS_DENIED'].includes(code))).to.deep.equal([]);
  });

  it('are documented, each with its status and whether to retry', () => {
    const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+|–) \| (yes|) *\|/gm)];
    const documented = rows.map(([, code, status, retry]) => [
      code,
      status === '–' ? 0 : Number(status),
      retry === 'yes',
    ]);
    const table = Object.entries(ERROR_TABLE).map(([code, row]) => [code, row.status, 'retryable' in row]);
    expect(documented).to.have.deep.members(table);
  });
});
