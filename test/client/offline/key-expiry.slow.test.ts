import { expect } from 'chai';
import { buildProgram } from '../../support/built-program.js';
import { runCommand } from '../../support/program.js';

describe('a message that is sent again when its gateway has forgotten its key', () => {
  it('is refused where it was accepted then: nothing is said twice', async () => {
    // In a process of its own: what other tests left there would have each of its short timers run through a day.
    const program = runCommand(process.execPath, {
      args: [await buildProgram('test/client/offline/key-expiry-program.ts')],
    });
    expect(await program.exited, program.output).to.equal(0);
    expect(JSON.parse(program.output)).to.deep.equal({ isSame: true, code: 'MESSAGE_EXISTS', said: 1 });
  });
});
