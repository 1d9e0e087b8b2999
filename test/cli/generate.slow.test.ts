import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { method } from '../../server/index.js';
import { codegenGateway, TOKEN } from '../codegen/fixtures/gateway.js';
import { echo } from '../support/apps.js';
import { describeDaily } from '../support/daily.js';
import { startGateway } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';
import { runCliIn } from './run-cli.js';

/** Runs the command as its users do. */
async function generate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | string; readonly output: string }> {
  const program = runCliIn(ROOT, ['generate', ...args], env);
  const code = await program.exited;
  return { code, output: program.output };
}

async function startCodegenGateway(): Promise<string> {
  const { url } = await closeLater(codegenGateway(), (gateway) => gateway.close()).start();
  return url!;
}

/** Answers every request the same. */
const answering = (status: number, body: string): Promise<string> =>
  listenOnLoopback((_request, response) => response.writeHead(status).end(body));

describeDaily('agent-session-gateway generate', 3, () => {
  it('writes the module, says so, and leaves an equal file alone', async () => {
    const url = await startCodegenGateway();
    const out = join(tempDir(), 'gateway.gen.ts');
    const first = await generate(['--url', `${url}/`, '--token', TOKEN, '--out', out]);
    expect(first).to.deep.equal({ code: 0, output: `${out}: 24 methods\n` });
    const code = readFileSync(out, 'utf8');
    expect(code)
      .to.contain("'tasks:admin:archive': Method<")
      .and.contain('export function createGatewayClient');
    const { mtimeNs } = statSync(out, { bigint: true });

    const again = await generate(['--url', url, '--out', out], { AGENT_SESSION_GATEWAY_TOKEN: TOKEN });
    expect(again).to.deep.equal({ code: 0, output: `${out}: 24 methods, unchanged\n` });
    expect(statSync(out, { bigint: true }).mtimeNs).to.equal(mtimeNs);
  });

  it('has only the methods whose roles the token holds', async () => {
    const url = await startCodegenGateway();
    const out = join(tempDir(), 'gateway.gen.ts');
    expect((await generate(['--url', url, '--token', 'guest', '--out', out])).code).to.equal(0);
    expect(readFileSync(out, 'utf8')).to.contain("'tasks:create'").and.not.contain('archive');
  });

  it('checks: 0 for an equal file, 1 for another or none, and nothing is written', async () => {
    const url = await startCodegenGateway();
    const out = join(tempDir(), 'gateway.gen.ts');
    const args = ['--url', url, '--token', TOKEN, '--out', out];
    const missing = await generate([...args, '--check']);
    expect(missing).to.deep.equal({
      code: 1,
      output: `${out} does not exist; run generate without --check\n`,
    });
    expect(existsSync(out)).to.equal(false);

    await generate(args);
    const equal = await generate([...args, '--check']);
    expect(equal).to.deep.equal({ code: 0, output: `${out} is up to date\n` });
    writeFileSync(out, readFileSync(out, 'utf8').replaceAll('\n', '\r\n'));
    expect((await generate([...args, '--check'])).code).to.equal(0);

    writeFileSync(out, 'changed');
    const different = await generate([...args, '--check']);
    expect(different).to.deep.equal({
      code: 1,
      output: `${out} is out of date; run generate without --check\n`,
    });
    expect(readFileSync(out, 'utf8')).to.equal('changed');
  });

  it('says what is missing from the types', async () => {
    const { url } = await startGateway({
      app: echo,
      auth: { type: 'none' },
      methods: { size: method({ result: z.bigint(), handler: () => 1n }) },
    });
    const { code, output } = await generate(['--url', url, '--out', join(tempDir(), 'a.ts')]);
    expect(code).to.equal(0);
    expect(output).to.contain('"size": result: BigInt cannot be represented in JSON Schema\n');
  });

  it('fails with 2 and one line that says why', async () => {
    const url = await startCodegenGateway();
    const out = join(tempDir(), 'gateway.gen.ts');
    const closed = await answering(404, 'not here');
    const teapot = await answering(200, '{ "kind": "teapot" }');
    const newer = await answering(200, '{ "version": 2, "methods": [] }');
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['--url', url, '--token', 'wrong', '--out', out], /^\S+\/methods answers: .+\n$/],
      [['--url', closed, '--out', out], /^\S+\/methods answers with status 404\n$/],
      [['--url', teapot, '--out', out], /^\S+\/methods answers, but with no catalogue of methods\n$/],
      [['--url', newer, '--out', out], /^The catalogue has version 2, and this generator reads version 1\n$/],
      [
        ['--url', 'http://127.0.0.1:1', '--out', out],
        /^http:\/\/127\.0\.0\.1:1\/methods cannot be reached\. .*doctor.*\n$/,
      ],
      [['--url', 'ftp://a', '--out', out], /^Not an http or https URL: "ftp:\/\/a"\n$/],
      [['--url', url, '--token', TOKEN, '--out', tempDir()], /cannot be read: EISDIR\n$/],
      [
        ['--url', url, '--token', TOKEN, '--out', join(tempDir(), 'no', 'a.ts')],
        /cannot be written: ENOENT\n$/,
      ],
      [['--url', url], /^error: required option '--out <file>' not specified\n$/],
      [['--url', url, '--out', out, '--watch'], /^error: unknown option '--watch'/],
    ];
    for (const [args, said] of cases) {
      const { code, output } = await generate(args);
      expect(output).to.match(said);
      expect(code, output).to.equal(2);
    }
    expect(existsSync(out)).to.equal(false);
  });

  it('never shows a token, in help neither', async () => {
    const url = await startCodegenGateway();
    const env = { AGENT_SESSION_GATEWAY_TOKEN: 'a-secret-of-somebody' };
    const help = await generate(['--help'], env);
    expect(help.code).to.equal(0);
    expect(help.output).to.contain('--check').and.contain('AGENT_SESSION_GATEWAY_TOKEN');
    const refused = await generate(['--url', url, '--out', 'nowhere.ts'], env);
    const credentials = url.replace('http://', 'http://user:pass@');
    const inUrl = await generate(['--url', `${credentials}?token=hidden`, '--out', 'nowhere.ts']);
    expect(help.output + refused.output + inUrl.output).not.to.match(/a-secret-of-somebody|pass|hidden/);
  });

  it('lets no server steer the terminal', async () => {
    const url = await answering(
      400,
      JSON.stringify({ error: { code: 'BAD', message: '\u001b[2Jcleared\u202e' } }),
    );
    const { output } = await generate(['--url', url, '--out', 'nowhere.ts']);
    expect(output)
      .to.contain('?[2Jcleared?')
      .and.not.match(/[\p{Bidi_Control}]|(?!\n)\p{Cc}/u);
  });
});
