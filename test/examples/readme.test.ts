import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, runCommand, runProgram } from '../support/program.js';

const TOKEN = 'a-readme-token-of-more-than-32-bytes';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('README', () => {
  it('has a server of about 15 lines and a client of about 6 that run, and a curl line that works', async () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const port = await freePort();
    const folder = join(ROOT, '.cache/readme');
    mkdirSync(folder, { recursive: true });
    const codeLines: Record<string, number> = {};
    for (const [, name, code] of readme.matchAll(/^```ts\n\/\/ (\w+)\.ts\n([\s\S]*?)^```$/gm)) {
      codeLines[name!] = code!.split('\n').filter((line) => line !== '').length;
      // The block as it stands, but on a port that is free here.
      writeFileSync(join(folder, `${name}.ts`), code!.replaceAll('3000', String(port)));
    }
    expect(codeLines.server).to.be.within(10, 18);
    expect(codeLines.client).to.be.within(4, 8);

    const env = { GATEWAY_TOKEN: TOKEN };
    runProgram(join(folder, 'server.ts'), { env });
    const readiness = runCommand('curl', {
      args: [
        '-s',
        '--retry',
        '50',
        '--retry-delay',
        '1',
        '--retry-connrefused',
        `http://127.0.0.1:${port}/agent/readyz`,
      ],
    });
    expect(await readiness.exited).to.equal(0);

    const client = runProgram(join(folder, 'client.ts'), { env });
    expect(await client.exited).to.equal(0);
    expect(client.output).to.equal('Hello there 3\n');

    const [, line] = /^```sh\n(curl[\s\S]*?)^```$/m.exec(readme)!;
    const curl = runCommand('sh', {
      args: ['-c', line!.replaceAll('3000', String(port)).replace('-N', '-sN')],
      env,
    });
    expect(await curl.exited).to.equal(0);
    expect(curl.output)
      .to.match(/^event: message_accepted/)
      .and.to.contain('event: message_end');
  });
});
