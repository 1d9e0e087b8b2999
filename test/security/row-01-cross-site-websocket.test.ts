import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { startGateway } from '../support/gateway.js';
import { head, rawRequest } from '../support/raw-http.js';
import { upgrade } from './doors.js';

const KEY = { 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' };

describe('row 1: a WebSocket from another site', () => {
  it('is refused before the upgrade, whatever its origin looks like', async () => {
    const { url } = await startGateway({ app: echo });
    const { host, port } = new URL(url);
    for (const origin of [
      'https://evil.test',
      'null',
      `http://localhost.evil.test:${port}`,
      `http://127.0.0.1:${Number(port) + 1}`,
      // Our own host and port, but no page of ours.
      `ftp://${host}`,
      `chrome-extension://${host}`,
      `http://user@${host}`,
      `http://${host}/`,
      'nonsense',
    ]) {
      expect(await upgrade(url, { origin }), origin).to.equal(403);
    }
  });

  it('passes from its own origin, a listed one, and from what is no page', async () => {
    const { url } = await startGateway({ app: echo, origins: ['https://app.example'] });
    for (const headers of [{ origin: url }, { origin: 'https://app.example' }, {}] as Record<
      string,
      string
    >[]) {
      expect(await upgrade(url, headers)).to.equal(101);
    }
  });

  it('is judged by one Origin: two are refused', async () => {
    const { url } = await startGateway({ app: echo, origins: ['https://app.example'] });
    const { host } = new URL(url);
    const lines = head('GET /ws', {
      Host: host,
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      ...KEY,
      Origin: 'https://app.example',
    });
    const answer = await rawRequest(url, lines.replace('\r\n\r\n', '\r\nOrigin: https://evil.test\r\n\r\n'));
    expect(answer.status).to.equal(403);
  });

  it('tells log and listeners which origin it was, and which option would let it in', async () => {
    const { url, gateway, log } = await startGateway({ app: echo });
    const heard: object[] = [];
    gateway.on('origin:refused', (refusal) => heard.push(refusal));
    await upgrade(url, { origin: 'https://evil.test' });
    expect(heard).to.have.length(1);
    expect(heard[0]).to.include({ origin: 'https://evil.test', host: new URL(url).host });
    const [line] = log.lines.filter(({ message }) => message.includes('origin'));
    expect(JSON.stringify(line)).to.include('https://evil.test').and.include('the option origins');
  });
});
