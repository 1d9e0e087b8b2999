import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { startGateway, TOKEN } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { runProgram } from '../support/program.js';

describe('a program with a client', () => {
  for (const mode of ['disconnect', 'linger']) {
    it(`exits by itself ${mode === 'linger' ? 'when nobody listens any more' : 'after disconnect()'}`, async () => {
      const { url, gateway } = await startGateway({ app: echo });
      const gone = new Hearing(gateway, 'client:disconnected');
      const program = runProgram('test/client/fixtures/program.ts', { args: [url, TOKEN, mode] });
      await program.prints(/echo: hello\nstate open\n/);
      expect(await program.exited).to.equal(0);
      await gone.nth(1);
    });
  }
});
