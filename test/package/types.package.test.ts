import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { COMPILERS, compile, USERS_OPTIONS } from '../support/compile.js';
import { describeDaily } from '../support/daily.js';
import { CONSUMER, NAME, NAMES, NEEDS, pageOf } from './entries.js';
import { type Installed, installPackage } from './installed.js';

/** A program of CommonJS: it has no `await` of its own. */
const COMMON = `import { createGateway, method } from '${NAME}';
import { createClient } from '${NAME}/client';
const gateway = createGateway({ app: { run: () => 'x' }, methods: { ping: method({ handler: async () => ({ n: 1 }) }) } });
export const call = async (): Promise<number> => (await createClient<typeof gateway>({ baseUrl: '/' }).invoke('ping')).n;`;

/** What a project of CommonJS is told, by its `module`, as docs/types.md has it. */
const COMMONJS: readonly (readonly [version: string, module: string, codes: readonly string[]])[] = [
  ['5.4.5', 'preserve', []],
  ['5.4.5', 'nodenext', ['TS1479']],
  ['5.8.3', 'nodenext', []],
  ['5.9.3', 'node16', ['TS1479']],
  ['5.9.3', 'node20', []],
  ['6.0.3', 'node18', ['TS1479']],
  ['6.0.3', 'nodenext', []],
  ['7.0.2', 'node18', ['TS1479']],
  ['7.0.2', 'node20', []],
  ['7.0.2', 'preserve', []],
];

describe('the types of the packed package', () => {
  let installed: Installed;

  before(async () => {
    installed = await installPackage();
  });
  after(() => installed?.remove());

  /** What a compiler says of one file in the project. */
  const check = (compiler: (typeof COMPILERS)[number], file: string, options: object): Promise<string> => {
    const compilerOptions = { ...USERS_OPTIONS, noEmit: true, ...options };
    installed.write('tsconfig.json', JSON.stringify({ compilerOptions, files: [file] }));
    return compile(compiler, installed.project);
  };

  for (const compiler of COMPILERS) {
    it(`type-checks a page's code without the types of Node with ${compiler}`, async () => {
      installed.write('page.ts', pageOf(`${NAME}/client`));
      expect(await check(compiler, 'page.ts', { types: [] })).to.equal('');
    });

    it(`type-checks in an empty project with ${compiler}`, async () => {
      installed.write('consumer.ts', CONSUMER);
      const options = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
      expect(await check(compiler, 'consumer.ts', options)).to.equal('');
    });

    it(`type-checks in a project for Node without the DOM library with ${compiler}`, async () => {
      installed.write(
        'server-only.ts',
        `import { createGateway, gatewayMiddleware } from '${NAME}';
import { createClient } from '${NAME}/client';
import { createUnixSocketClientTransport } from '${NAME}/client/node';
import { chatCompletionsPlugin } from '${NAME}/plugins/chat-completions';
import { type GatewayEvent, reduce } from '${NAME}/protocol';
import { sqliteStore } from '${NAME}/stores/sqlite';
const app = { async *run() { yield 'x'; } };
export const gateway = createGateway({ app, store: sqliteStore({ path: 'x.db' }) }).use(chatCompletionsPlugin());
export const router = gatewayMiddleware({ app });
export const clients = [
  createClient<typeof gateway>({ baseUrl: 'http://127.0.0.1', credentials: 'include' }),
  createClient({ transport: createUnixSocketClientTransport({ socketPath: '/x' }) }),
];
export const fold: (state: Parameters<typeof reduce>[0], event: GatewayEvent) => typeof state = reduce;`,
      );
      expect(await check(compiler, 'server-only.ts', { lib: ['es2023'] })).to.equal('');
    });
  }

  /** What a compiler that users have says of one file, the codes of its errors alone. */
  const codesOf = async (version: string, file: string, options: object): Promise<string[]> => {
    const name = `typescript-${version}`;
    await installed.install(`${name}@npm:typescript@${version}`);
    const compilerOptions = { ...USERS_OPTIONS, target: 'es2022', noEmit: true, skipLibCheck: true };
    const config = { compilerOptions: { ...compilerOptions, ...options }, files: [basename(file)] };
    installed.write(join(dirname(file), 'tsconfig.json'), JSON.stringify(config));
    const said = await installed
      .node(`node_modules/${name}/bin/tsc`, '-p', dirname(file))
      .catch((error: { readonly stdout: string }) => error.stdout || String(error));
    return [...new Set(said.match(/(?<=error )TS\d+|.*Error.*/g))];
  };

  describeDaily('by compilers that users have', 3, () => {
    // 5.9 and 7 are those of the repository.
    for (const version of ['5.4.5', '5.6.3', '5.8.3', '6.0.3'])
      it(`type-checks calls of methods with TypeScript ${version}`, async () => {
        installed.write('consumer.ts', CONSUMER);
        expect(await codesOf(version, 'consumer.ts', {})).to.deep.equal([]);
      });

    for (const [version, module, codes] of COMMONJS)
      it(`${codes.length === 0 ? 'type-checks' : `is ${codes}`} as CommonJS with module ${module}, TypeScript ${version}`, async () => {
        installed.write('common/package.json', '{"type":"commonjs"}');
        installed.write('common/main.ts', COMMON);
        const options = { module, typeRoots: ['../node_modules/@types'] };
        expect(await codesOf(version, 'common/main.ts', options)).to.deep.equal(codes);
      });
  });

  // TypeScript 7 knows this way of finding modules no more.
  it('type-checks as CommonJS with moduleResolution node10, every entry, and runs', async () => {
    const entries = Object.keys(NAMES).filter((entry) => !(entry in NEEDS));
    const imports = entries.map((entry, at) => `import * as entry${at} from '${entry}';`);
    const uses = entries.map((entry, at) => `${JSON.stringify(entry)}: Object.keys(entry${at}).length`);
    installed.write('old/package.json', '{"type":"commonjs"}');
    installed.write(
      'old/main.ts',
      `${imports.join('\n')}
${COMMON}
console.log(JSON.stringify({ ${uses.join(', ')} }));`,
    );
    const options = {
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.iterable'],
      module: 'commonjs',
      moduleResolution: 'node10',
      esModuleInterop: true,
      types: ['node'],
      typeRoots: ['../node_modules/@types'],
      strict: true,
      // The types of optional peers, which this project has none of, are looked for in vain.
      skipLibCheck: true,
      outDir: '.',
      ignoreDeprecations: '5.0',
    };
    installed.write('old/tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['main.ts'] }));
    expect(await compile('typescript5', join(installed.project, 'old'))).to.equal('');
    const names = JSON.parse(await installed.node('old/main.js')) as Record<string, number>;
    for (const entry of entries) expect(names[entry], entry).to.be.at.least(NAMES[entry]!.length);
  });
});
