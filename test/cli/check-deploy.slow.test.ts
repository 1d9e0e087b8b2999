import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectClient } from '../support/client.js';
import { projectOf, runCliIn, urlOf } from './run-cli.js';

const TOKEN = 'secret-token-of-a-test';

/** A server whose app does a step of this name and then asks. */
const serverOf = (version: string, step: string): string => `
import { appendFileSync } from 'node:fs';
const app = {
  version: '${version}',
  accepts: '*',
  resumable: true,
  async *run(turn) {
    yield 'Hm. ';
    await turn.step('${step}', () => appendFileSync('effects', '${version}'));
    yield String(await turn.ask({ name: 'sure' }));
  },
};
export const config = { app, auth: { type: 'token', token: '${TOKEN}' } };
`;

describe('agent-session-gateway check-deploy', function () {
  // Each command is a process.
  this.timeout(5 * 60_000);

  it('asks the running gateway or the file, says which runs would be held, and ends with 1 for them', async () => {
    const folder = projectOf({
      'old.mjs': serverOf('1', 'order'),
      'good.mjs': serverOf('2', 'order'),
      'bad.mjs': serverOf('2', 'book'),
    });
    const env = { GATEWAY_DB: 'my.db' };
    const program = runCliIn(folder, ['start', 'old.mjs', '--port', '0'], env);
    const url = await urlOf(program);
    for await (const event of connectClient(url, { token: TOKEN }).send('main', 'go'))
      if (event.type === 'input_required') break;
    const check = async (file: string, ...more: readonly string[]) => {
      const command = runCliIn(folder, ['check-deploy', '--app', file, ...more], env);
      return [await command.exited, command.output] as const;
    };
    const judge = async (): Promise<void> => {
      const [code, said] = await check('bad.mjs');
      expect([code, said]).to.deep.equal([1, said]);
      expect(said).to.match(
        /held {3}run_\S+ {2}(?:default:)?main .*default 1 → 2: step "order" was expected, and it came to "book"/,
      );
      expect(said).to.include('0 go on, 1 would be held, 0 would be lost');
      const [ok, json] = await check('good.mjs', '--json');
      expect([ok, json]).to.deep.equal([0, json]);
      const [run, summary] = json
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(run).to.include({ app: 'default', version: '1', to: '2', outcome: 'goes on' });
      expect(summary).to.deep.equal({ summary: { 'goes on': 1, held: 0, lost: 0 } });
    };
    await judge();
    await program.kill('SIGKILL');
    await judge();
    expect(readFileSync(join(folder, 'effects'), 'utf8'), 'nothing was done').to.equal('1');

    const next = runCliIn(folder, ['start', 'bad.mjs', '--port', '0'], env);
    await urlOf(next);
    const list = async () => {
      const command = runCliIn(folder, ['sessions', '--held'], env);
      await command.exited;
      return command.output;
    };
    let listed = '';
    while (listed === '') listed = await list();
    expect(listed).to.match(
      /held .*run_\S+ {2}main .*default 1; 2 came to the step "book" in place of "order"/,
    );
    expect(await next.kill('SIGTERM')).to.equal(0);
  });
});
