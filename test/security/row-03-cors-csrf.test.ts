import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { get, jsonHeaders, post, preflight, startGateway } from '../support/gateway.js';

const FOREIGN = 'https://evil.test';

describe('row 3: requests of other sites', () => {
  it('get no CORS headers, and a preflight is refused', async () => {
    const { url } = await startGateway({ app: echo });
    const allowed = await preflight(`${url}/send`, FOREIGN);
    expect(allowed.status).to.equal(403);
    const { headers } = await get(`${url}/status`, { origin: FOREIGN });
    for (const answer of [allowed.headers, headers])
      expect(answer.get('access-control-allow-origin')).to.equal(null);
  });

  for (const type of [
    'text/plain',
    'text/plain; charset=application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
  ]) {
    it(`that need no preflight (${type || 'no type'}) are refused without effect`, async () => {
      const { url } = await startGateway({ app: echo });
      const { authorization } = jsonHeaders();
      const answer = await fetch(`${url}/send`, {
        method: 'POST',
        headers: { authorization: authorization!, 'content-type': type },
        body: JSON.stringify({ sessionId: 'main', message: 'hi' }),
      });
      expect(answer.status).to.equal(415);
      expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
    });
  }

  it('without Origin, as images and frames make them, open no event stream and read nothing', async () => {
    const { url } = await startGateway({
      app: echo,
      auth: { type: 'none' },
      limits: { shared: { connections: 1 } },
    });
    const crossSite = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'image',
    };
    const frame = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
    };
    const tab = { ...frame, 'sec-fetch-dest': 'document' };
    for (const headers of [crossSite, frame, tab]) {
      for (let n = 0; n < 3; n++) {
        const { status, body } = await get(`${url}/events?sessionId=main`, headers);
        expect([status, body.error.code]).to.deep.equal([403, 'ORIGIN_DENIED']);
      }
    }
    expect((await get(`${url}/openapi.json`, crossSite)).status).to.equal(403);
    expect((await get(`${url}/openapi.json`, tab)).status, 'a link that somebody follows').to.equal(200);
    expect((await get(`${url}/status`, { 'sec-fetch-site': 'same-origin' })).status).to.equal(200);
  });

  it('of a listed origin are named exactly, with credentials and Vary, and never as *', async () => {
    const { url } = await startGateway({ app: echo, origins: ['https://app.example'] });
    const { headers } = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'x' },
      { origin: 'https://app.example' },
    );
    expect(headers.get('access-control-allow-origin')).to.equal('https://app.example');
    expect(headers.get('access-control-allow-credentials')).to.equal('true');
    expect(headers.get('vary')).to.match(/origin/i);
  });
});
