import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFiles } from '../../client/files/index.js';
import { buildProgram } from '../support/built-program.js';
import { type Program, runCommand } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

const ROUNDS = process.env.DAY === 'all' ? 8 : 4;
const SENDS = 30;

describe('files and kill -9', () => {
  it('are all there that a kept message names; what was cut, and what nobody names, leaves nothing', async function () {
    this.timeout(300_000);
    const path = join(tempDir(), 'gateway.db');
    const built = await buildProgram('test/crash/files-program.ts');
    const start = async (unnamedFileMs: number): Promise<{ program: Program; url: string }> => {
      const program = runCommand(process.execPath, { args: [built, path, String(unnamedFileMs)] });
      return { program, url: (await program.prints(/listening on (\S+)/))[1]! };
    };
    let uploads = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { program, url } = await start(3_600_000);
      const files = createFiles({ baseUrl: url });
      let accepted = 0;
      const talk = async (at: number): Promise<void> => {
        uploads += 1;
        const { fileId, mediaType } = await files.upload(
          new TextEncoder().encode(`${round} ${at} ${'x'.repeat(at * 5000)}`),
        );
        // At another moment each time: of an upload, of a message on its way, of what follows it. In the last round some were answered.
        if (at === 10 + round && round < ROUNDS - 1) setImmediate(() => void program.kill('SIGKILL'));
        const answer = await fetch(`${url}/send`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            prefer: 'respond-async',
            accept: 'application/json',
          },
          body: JSON.stringify({ sessionId: `s${at % 5}`, message: [{ type: 'file', mediaType, fileId }] }),
        });
        if (answer.ok) accepted += 1;
        if (accepted === 3 * round) void program.kill('SIGKILL');
      };
      await Promise.allSettled(Array.from({ length: SENDS }, (_, at) => talk(at)));
      await program.kill('SIGKILL');
    }

    const { url } = await start(200);
    const namedIn = async (sessionId: string): Promise<string[]> => {
      const response = await fetch(`${url}/history?sessionId=${sessionId}&limit=1000`);
      expect(response.status).to.be.oneOf([200, 404]);
      const { messages } = response.ok ? await response.json() : { messages: [] };
      return messages.flatMap(({ content }: any) => content.flatMap(({ fileId }: any) => fileId ?? []));
    };
    const named = new Set((await Promise.all([0, 1, 2, 3, 4].map((one) => namedIn(`s${one}`)))).flat());
    expect(named.size).to.be.above(0).and.below(uploads);
    const statusOf = async (fileId: string) =>
      (await fetch(`${url}/files/${fileId}`, { method: 'HEAD' })).status;
    // What nobody names goes, with what was being written.
    const marker = await createFiles({ baseUrl: url }).upload(new Uint8Array([1]));
    while ((await statusOf(marker.fileId)) === 200) await new Promise((resolve) => setTimeout(resolve, 50));
    const directory = `${path}.files`;
    while (readdirSync(join(directory, '.tmp')).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 50));
    for (const fileId of named) expect(await statusOf(fileId), fileId).to.equal(200);
    const [scope] = readdirSync(directory).filter((name) => name !== '.tmp');
    const kept = readdirSync(join(directory, scope!));
    expect(kept).to.include.members([...named]);
  });
});
