import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { runProgram } from '../support/program.js';
import { rawClient, requestText } from '../support/raw-client.js';

describe('threat row 23: forged headers and log lines', () => {
  it('a log line is one line of JSON without a control character, whatever it tells', async () => {
    const program = runProgram('test/security/log-program.ts');
    const [, url] = await program.prints(/^URL (\S+)$/m);
    const answers = [];
    for (const text of [
      '\r\n{"level":"error","message":"forged"}',
      '\u001b[31m',
      '\u009b31m',
      '\u007f\u2028\u2029',
    ])
      answers.push(await post(`${url}/invoke`, { method: 'fail', params: { text } }));
    expect(answers.map(({ status }) => status)).to.deep.equal([500, 500, 500, 500]);
    await program.prints(/END OF LOG/);
    await program.kill('SIGTERM');
    const lines = program.output.split('\n').filter((line) => line !== '' && !/^(?:URL|END)/.test(line));
    expect(lines.length).to.equal(4);
    for (const line of lines) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(line).to.not.match(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      expect(JSON.parse(line)).to.include({ level: 'error' });
      expect(line).to.not.include(TOKEN);
    }
  });

  it('nothing that a caller says becomes a header of the answer', async () => {
    const { url } = await startGateway({ app: echo });
    const { headers } = await get(`${url}/status?x=${encodeURIComponent('\r\nX-Forged: 1')}`, {
      'x-session-id': 'SAID',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    expect(JSON.stringify([...headers])).to.not.match(/forged|SAID|0af76519/i);
    // A head that Node takes for two requests, or none, is refused as a whole.
    const client = rawClient(url);
    client.socket.write(
      requestText('GET /status', undefined, { 'Transfer-Encoding': 'chunked', 'Content-Length': '5' }),
    );
    await client.closed;
    expect(client.text()).to.match(/^HTTP\/1\.1 400 /);
  });
});
