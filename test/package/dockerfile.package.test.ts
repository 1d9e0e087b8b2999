import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import dockerignore from '@balena/dockerignore';
import { expect } from 'chai';
import { type Copy, DockerfileParser, type Instruction, type JSONInstruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { DEFAULT_LIMITS } from '../../server/config/limits.js';
import { connectClient } from '../support/client.js';
import { isToday } from '../support/daily.js';
import { freePort } from '../support/free-port.js';
import { get, TOKEN } from '../support/gateway.js';
import { ROOT, runCommand } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

const TEXT = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const file = DockerfileParser.parse(TEXT);
const named = (name: string, instructions = file.getInstructions()): Instruction[] =>
  instructions.filter((it) => it.getKeyword() === name);
const wordsOf = (it: Instruction): string[] => it.getArguments().map((word) => word.getValue());
const jsonOf = (it: Instruction): string[] =>
  (it as JSONInstruction).getJSONStrings().map((word) => JSON.parse(word.getValue()));

/** One stage: a folder that stands for its root, and where its instructions work. */
class Stage {
  readonly root = tempDir();
  readonly env: Record<string, string> = {};
  #folder = '/';

  at(path: string): string {
    return path.startsWith('/') ? join(this.root, path) : join(this.root, this.#folder, path);
  }

  workIn(folder: string): void {
    this.#folder = folder;
    mkdirSync(this.at('.'), { recursive: true });
  }

  copy(from: string, sources: readonly string[], target: string): void {
    for (const source of sources) {
      const into =
        target.endsWith('/') && source !== '.'
          ? join(this.at(target), source.split('/').at(-1)!)
          : this.at(target);
      cpSync(join(from, source), into, { recursive: true, verbatimSymlinks: true });
    }
  }
}

/** What is installed, once more; npm writes its own note of it in place. */
function link(installed: string, there: string): void {
  execFileSync('cp', ['-al', installed, there]);
  rmSync(join(there, '.package-lock.json'));
  cpSync(join(installed, '.package-lock.json'), join(there, '.package-lock.json'));
}

/** What `docker build .` sends: what Git knows of, without what .dockerignore leaves out. */
function context(): string {
  const folder = tempDir();
  const filter = dockerignore.default().add(readFileSync(join(ROOT, '.dockerignore'), 'utf8'));
  const known = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const path of filter.filter(known.split('\0').filter((it) => it && existsSync(join(ROOT, it))))) {
    cpSync(join(ROOT, path), join(folder, path));
  }
  return folder;
}

/** Every file below a folder, with its size. */
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

/** Has what it brings already, where tests run; so it is done once a week. */
const INSTALL = 'npm ci --no-audit --no-fund';

describe('Dockerfile', function () {
  this.timeout(600_000);

  it('has no fault that a linter finds, ends as a plain user, and has signals reach Node', () => {
    expect(validate(TEXT)).to.deep.equal([]);
    const stages = named('FROM');
    expect(stages).to.have.length(2);
    for (const stage of stages) expect(wordsOf(stage)[0]).to.match(/^node:\d+-slim$/);
    const last = file
      .getInstructions()
      .filter((it) => it.getRange().start.line > stages[1]!.getRange().start.line);
    expect(named('USER', last).map(wordsOf)).to.deep.equal([['node']]);
    expect(named('RUN', last)).to.deep.equal([]);
    for (const name of ['ENTRYPOINT', 'CMD']) {
      expect(named(name, last)).to.have.length(1);
      expect(jsonOf(named(name, last)[0]!)).not.to.include('npm');
    }
    expect(jsonOf(named('ENTRYPOINT', last)[0]!)[0]).to.equal('node');
    expect(DEFAULT_LIMITS.drainMs).to.be.above(10_000, 'docs/deployment.md says to stop with -t 40');
  });

  it('works, instruction by instruction, in clean folders', async function () {
    if (!isToday(0, 3)) this.skip();
    const [, major] = /^FROM node:(\d+)/m.exec(TEXT)!;
    const node = execFileSync(process.execPath, ['scripts/on-node.mjs', major!, '-p', 'process.execPath'], {
      cwd: ROOT,
      encoding: 'utf8',
    }).trim();
    const path = `${dirname(node)}${delimiter}${process.env.PATH}`;
    const sent = context();
    expect(filesOf(sent)).not.to.include('.git').and.not.to.include('test');

    const stages: Stage[] = [];
    const names = new Map<string, Stage>();
    let stage!: Stage;
    let healthCheck: string[] = [];
    const command: string[] = [];
    for (const it of file.getInstructions()) {
      const words = wordsOf(it);
      switch (it.getKeyword()) {
        case 'FROM':
          stage = new Stage();
          stages.push(stage);
          if (words[1]?.toUpperCase() === 'AS') names.set(words[2]!, stage);
          break;
        case 'WORKDIR':
          stage.workIn(words[0]!);
          break;
        case 'ENV':
          for (const word of words) {
            const [name, value] = word.split('=');
            stage.env[name!] = value!;
          }
          break;
        case 'COPY': {
          const from = (it as Copy)
            .getFlags()
            .find((flag) => flag.getName() === 'from')
            ?.getValue();
          stage.copy(from ? names.get(from)!.root : sent, words.slice(0, -1), words.at(-1)!);
          break;
        }
        case 'RUN': {
          if (it.getArgumentsContent() === INSTALL && !isToday(0, 7)) {
            link(join(ROOT, 'node_modules'), stage.at('node_modules'));
            break;
          }
          const { PATH: _, NODE_ENV: __, ...env } = process.env;
          execFileSync('sh', ['-c', it.getArgumentsContent()!], {
            cwd: stage.at('.'),
            env: { ...env, PATH: path, npm_config_prefer_offline: 'true', ...stage.env },
            stdio: ['ignore', 'ignore', 'inherit'],
          });
          break;
        }
        case 'HEALTHCHECK':
          // The command of another instruction, after this one's own flags.
          healthCheck = JSON.parse(/\[.*\]/s.exec(it.getArgumentsContent()!)![0]);
          break;
        case 'ENTRYPOINT':
        case 'CMD':
          command.push(...jsonOf(it));
          break;
        default:
          expect(it.getKeyword()).to.be.oneOf(['USER', 'VOLUME', 'EXPOSE']);
      }
    }

    const port = String(await freePort());
    const env = {
      ...stage.env,
      PATH: path,
      PORT: port,
      GATEWAY_DB: stage.at(stage.env.GATEWAY_DB!),
      GATEWAY_TOKEN: TOKEN,
      ALLOWED_HOSTS: 'gateway.example',
    };
    const before = filesOf(stage.at('.'));
    const program = runCommand(node, { args: command.slice(1), cwd: stage.at('.'), env });
    await program.prints(/"message":"started"/);
    const url = `http://127.0.0.1:${port}`;
    expect((await connectClient(url).send('main', 'hello').result).stopReason).to.equal('end');
    expect((await get(`${url}/readyz`)).status).to.equal(200);
    const check = () => runCommand(node, { args: healthCheck.slice(1), cwd: stage.at('.'), env }).exited;
    expect(await check()).to.equal(0);
    expect(await program.kill('SIGTERM')).to.equal(0);
    expect(await check()).to.equal(1);
    // All that it writes is below the volume: the rest may be read-only.
    expect(filesOf(stage.at('.'))).to.deep.equal(before);
    expect(filesOf(stage.at('/data'))).to.include('gateway.db');
    // Nothing but what production needs.
    expect(before)
      .to.include('node_modules/jose/package.json')
      .and.include('node_modules/@redis/client/package.json')
      .and.include('node_modules/pg/package.json')
      .and.not.to.include('node_modules/typescript/package.json');
  });
});
