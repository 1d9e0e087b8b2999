import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeDaily } from '../support/daily.js';
import { ROOT } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';
import { runToEnd } from './run-cli.js';

const read = (...path: string[]): string => readFileSync(join(...path), 'utf8');
const secretIn = (folder: string): string => /^JWT_SECRET=(.*)$/m.exec(read(folder, '.env'))![1]!;

describeDaily('agent-session-gateway init', 2, () => {
  it('writes a project with a name, this version and a secret of its own, and says what is next', async () => {
    const folder = tempDir();
    const { code, output } = await runToEnd(folder, 'init', 'My First Agent');
    expect(code, output).to.equal(0);
    expect(output).to.match(
      /^my-first-agent: \d+ files written\. Next:\n {2}cd "My First Agent"\n {2}npm install\n {2}npm run dev\n$/,
    );
    const project = join(folder, 'My First Agent');
    const { name, dependencies } = JSON.parse(read(project, 'package.json'));
    const { version } = JSON.parse(read(ROOT, 'package.json'));
    expect({ name, version: dependencies['agent-session-gateway'] }).to.deep.equal({
      name: 'my-first-agent',
      version: `^${version}`,
    });
    expect(read(project, 'README.md')).to.match(/^# my-first-agent\n/);
    expect(read(project, '.gitignore').split('\n')).to.include('.env');
    expect(read(project, '.dockerignore').split('\n')).to.include('.env');
    expect(secretIn(project)).to.match(/^[\w-]{43}$/);
    expect(read(project, '.env.example')).to.match(/^JWT_SECRET=$/m);
    expect(statSync(join(project, '.env')).mode & 0o077).to.equal(0);
    expect(
      readdirSync(project, { recursive: true }).filter((path) => /(?:^|\/)_/.test(String(path))),
    ).to.deep.equal([]);
    await runToEnd(folder, 'init', 'other');
    expect(secretIn(join(folder, 'other'))).to.not.equal(secretIn(project));
  });

  it('writes into a folder that is there, beside what it has, and nothing over it', async () => {
    const folder = tempDir();
    writeFileSync(join(folder, 'LICENSE'), 'mine');
    const { code, output } = await runToEnd(folder, 'init');
    expect(code, output).to.equal(0);
    expect(output).to.not.contain('  cd ');
    expect(read(folder, 'LICENSE')).to.equal('mine');

    const taken = tempDir();
    writeFileSync(join(taken, 'index.html'), 'mine');
    const refused = await runToEnd(taken, 'init');
    expect(refused.code).to.equal(2);
    expect(refused.output).to.equal(
      'This folder has index.html already, and nothing is written over: name another folder\n',
    );
    expect(readdirSync(taken)).to.deep.equal(['index.html']);
    const below = await runToEnd(taken, 'init', 'index.html/agent');
    expect(below.code).to.equal(2);
    expect(below.output).to.match(/^\S+ cannot be written: ENOTDIR\n$/);
  });

  it('takes the packages in the versions that this one is developed with', () => {
    const template = JSON.parse(read(ROOT, 'templates/project/package.json'));
    const own = JSON.parse(read(ROOT, 'package.json'));
    const pinned = { ...own.dependencies, ...own.devDependencies };
    for (const [name, range] of Object.entries({ ...template.dependencies, ...template.devDependencies })) {
      if (pinned[name] !== undefined) expect(range, name).to.equal(`^${pinned[name].replace('^', '')}`);
    }
    expect(template.engines).to.deep.equal(own.engines);
    expect(existsSync(join(ROOT, 'templates/project/.env'))).to.equal(false);
  });
});
