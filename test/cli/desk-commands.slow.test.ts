import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../support/until.js';
import { projectOf, runCliIn, urlOf } from './run-cli.js';

const TOKEN = 'a-token-of-users-of-more-than-32-bytes';
const OPERATORS = 'a-token-of-operators-of-more-than-32-bytes';

const AGENT = `export const app = {
  async *run(turn) {
    await turn.usage({ model: 'm', inputTokens: 10, cost: 0.5, currency: 'USD' });
    yield String(await turn.ask({ name: 'which' }));
  },
};
export const config = { app, limits: { auditMs: 86_400_000 } };`;

describe("the operators' commands", function () {
  // Each command is a process.
  this.timeout(5 * 60_000);

  it('ask the gateway of a database by its socket, and by its monitoring port with the token', async () => {
    const folder = projectOf({ 'agent.js': AGENT });
    const db = join(folder, 'my.db');
    const serving = runCliIn(folder, ['start', 'agent.js', '--port', '0', '--db', db], {
      GATEWAY_TOKEN: TOKEN,
      GATEWAY_MONITOR_TOKEN: OPERATORS,
    });
    const [, monitor = ''] = await serving.prints(/"monitor":"(http[^"]+)".*"message":"started"/);
    const url = await urlOf(serving);
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json',
    };
    const run = fetch(`${url}/send`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ sessionId: 'main', message: 'a secret text' }),
    }).then((response) => response.json());
    const cli = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
      const command = runCliIn(folder, args, env);
      return { code: await command.exited, output: command.output };
    };
    const runs = async (): Promise<any[]> =>
      (await cli(['runs', '--json', '--db', db])).output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    await until(async () => (await runs()).some(({ waitsFor }) => waitsFor === 'person'));
    const [row] = await runs();
    expect(row).to.deep.include({
      sessionId: 'main',
      app: 'default',
      state: 'active',
      user: { id: 'token' },
    });
    const byPort = ['--monitor', monitor];
    const told = await cli(['runs', '--waits-for', 'person', ...byPort], {
      GATEWAY_MONITOR_TOKEN: OPERATORS,
    });
    expect(told.output).to.match(
      new RegExp(`^person +\\d+s {2}token {2}main {2}default active {2}${row.runId}`),
    );
    const refused = await cli(['runs', ...byPort], { GATEWAY_MONITOR_TOKEN: TOKEN });
    expect(refused.code).to.equal(2);
    expect(refused.output).to.include('Show the token of the monitoring port');
    const status = await cli(['status', '--db', db]);
    expect(status.output).to.match(/^ready for \d+\w {2}\S+ {2}version \d+\.\d+\.\d+, Node /);
    expect((await cli(['lame-duck', '--db', db])).output).to.include('takes no new clients');
    // Its thread is told a moment later.
    await until(async () => (await fetch(`${monitor}/readyz`)).status === 503);
    expect((await cli(['lame-duck', '--off', '--db', db])).output).to.include('takes new clients again');
    const session = await cli(['session', 'main', '--user', 'token', '--db', db]);
    expect(session.output).to.include('main').and.include('waiting').and.to.not.include('secret');
    const usage = await cli(['usage', '--by', 'person,model', '--db', db]);
    expect(usage.output).to.equal('token  m  0.5 USD  1 calls, 10 tokens in, 0 out\n');
    const csv = await cli(['usage', '--by', 'model', '--user', 'token', '--csv', ...byPort], {
      GATEWAY_MONITOR_TOKEN: OPERATORS,
    });
    expect(csv.output).to.equal(
      'model,calls,inputTokens,outputTokens,cachedInputTokens,reasoningTokens,cost,currency\nm,1,10,0,0,0,0.5,USD\n',
    );
    const own = await cli(['usage', '--user', 'token', '--json', '--db', db]);
    const [kept, used] = own.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(kept).to.include({ sessions: 1, runs: 1 });
    expect(used).to.include({ calls: 1, inputTokens: 10, cost: 0.5 });
    expect((await cli(['usage', '--user', 'nobody', '--csv', '--db', db])).output).to.equal('');
    const odd = await cli(['usage', '--by', 'colour', '--db', db]);
    expect([odd.code, odd.output]).to.deep.equal([
      2,
      "error: option '--by <fields>' argument 'colour' is invalid. It must be some of day, model, app, person, tenant, grant, session, with commas between them.\n",
    ]);
    expect((await cli(['usage', '--from', 'today', '--db', db])).output).to.match(/from: .*2026-11-28/);
    const aborted = await cli(['abort', 'main', '--user', 'token', ...byPort], {
      GATEWAY_MONITOR_TOKEN: OPERATORS,
    });
    expect(aborted).to.deep.equal({ code: 0, output: 'Ended a run of main.\n' });
    expect((await run).stopReason).to.equal('aborted');
    const again = await cli(['abort', 'main', '--user', 'token', '--db', db]);
    expect(again.code).to.equal(2);
    const acts = async (...more: readonly string[]): Promise<readonly any[]> => {
      const { code, output } = await cli(['audit', ...more], { GATEWAY_MONITOR_TOKEN: OPERATORS });
      expect(code, output).to.equal(0);
      expect(output).not.to.include('secret');
      return output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    };
    const noted = await acts('--db', db);
    expect(
      noted.map(({ api, src_endpoint: door, status }) => [api.operation, door.name, status]),
    ).to.deep.equal([
      ['lame-duck', 'operator', 'Success'],
      ['lame-duck', 'operator', 'Success'],
      ['abort', 'operator', 'Success'],
      ['abort', 'operator', 'Success'],
    ]);
    expect(noted[2]).to.deep.include({ class_uid: 6003, resources: [{ type: 'session', uid: 'main' }] });
    expect(await acts('--last', '1h', '--limit', '2', ...byPort)).to.deep.equal(noted.slice(0, 2));
    const wrong = await cli(['audit', '--last', 'long', '--db', db]);
    expect(wrong.code).to.equal(2);
    serving.child.kill('SIGTERM');
    await once(serving.child, 'exit');
    const none = await cli(['status', '--db', db]);
    expect(none.code).to.equal(2);
    expect(none.output).to.include('No gateway runs on this store');
  });
});
