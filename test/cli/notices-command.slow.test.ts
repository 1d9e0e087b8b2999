import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { Receiver, SECRET } from '../notices/receiver.js';
import type { Program } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { projectOf, runCliIn, urlOf } from './run-cli.js';

const TOKEN = 'a-token-for-files-of-more-than-32-bytes';

/** A configuration whose notices go to a receiver. */
const configFor = (url: string): string => `
export const config = {
  app: { async *run(turn) { yield 'heard ' + turn.text; } },
  notify: { webhooks: { url: '${url}', secrets: '${SECRET}', name: 'crm' }, unseenMs: 0, allowPrivate: true },
};`;

describe('agent-session-gateway notices', function () {
  // Each command is a process.
  this.timeout(5 * 60_000);

  it('lists what could not be told, and has the gateway that start runs send it again', async () => {
    let status = 503;
    const receiver = await Receiver.start((response) => response.writeHead(status).end());
    const folder = projectOf({ 'server.js': configFor(receiver.url) });
    const env = { GATEWAY_DB: '', GATEWAY_TOKEN: TOKEN };
    const cli = (...args: readonly string[]): Program => runCliIn(folder, args, env);
    const program = cli('start', 'server.js', '--port', '0', '--db', 'my.db');
    const url = await urlOf(program);
    const client = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());
    const { runId } = await client.send('main', 'hi').result;
    await receiver.until((all) => all.length > 0);
    const id = `run_ended~${runId}~webhook:crm`;
    const said = async (...args: readonly string[]): Promise<string> => {
      const command = cli('notices', ...args, '--db', 'my.db');
      expect(await command.exited, command.output).to.equal(0);
      return command.output;
    };
    await until(async () => (await said()) !== '');
    expect(await said())
      .to.match(/^retried +\S+ {2}main {2}/)
      .and.to.include(`${id}  `)
      .and.to.include('answered 503');
    expect(JSON.parse(await said('--json'))).to.include({ id, target: 'webhook:crm', dead: false });
    expect(await said('--dead')).to.equal('');
    const unknown = cli('notices', 'resend', 'run_ended~none', '--db', 'my.db');
    expect(await unknown.exited).to.equal(2);
    expect(unknown.output).to.include('There is nothing to send again for run_ended~none');
    expect(await said('resend', id)).to.include(`Sent ${id} again.`);
    // It is tried at once, and by itself later.
    status = 204;
    await until(async () => (await said()) === '');
    expect(new Set(receiver.all.map((each) => each.id)).size).to.equal(1);
  });
});
