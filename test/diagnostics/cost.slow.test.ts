import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { Program, ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';

function start(name: string, ...flags: string[]): Program {
  const file = join(ROOT, 'test/diagnostics', name);
  const child = spawn(process.execPath, [...flags, '--import', 'tsx', file], { cwd: ROOT });
  return closeLater(new Program(child), (it) => it.kill('SIGKILL'));
}

describe('diagnostics', () => {
  it('allocate nothing while nobody listens', async () => {
    // What an optimized function has taken in of others would count as its own.
    const program = start('allocations.ts', '--no-opt');
    expect(await program.exited, program.output).to.equal(0);
    const [quiet, heard] = program.output
      .split('\n')
      .filter((line) => line.startsWith('['))
      .map((line) => JSON.parse(line) as string[]);
    expect(quiet).to.deep.equal([]);
    expect(heard, 'which the same measure sees where somebody does').to.include('ModelCall');
  });

  it('let a subscriber that throws harm no work, and report it as an uncaught exception', async () => {
    const program = start('throwing-subscriber.ts');
    await program.prints(/^answered: echo: hello$/m);
    await program.prints(/^invoked: 1$/m);
    expect(await program.exited).to.equal(0);
    expect(program.output).to.match(/^uncaught: of operation start$/m);
    expect(program.output).to.match(/^uncaught: of run asyncEnd$/m);
    expect(program.output).to.match(/^uncaught: of append end$/m);
  });
});
