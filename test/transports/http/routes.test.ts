import { expect } from 'chai';
import { OPERATIONS } from '../../../shared/operations.js';
import { echo } from '../../support/apps.js';
import { get, jsonHeaders, post, preflight, startGateway, TOKEN } from '../../support/gateway.js';
import { head, rawRequest } from '../../support/raw-http.js';

const request = (url: string, method: string) => fetch(url, { method, headers: jsonHeaders() });

describe('routes', () => {
  it('an unknown one is 404 ROUTE_NOT_FOUND as JSON, look-alikes too', async () => {
    const { url } = await startGateway({ app: echo });
    for (const path of [
      '/',
      '/nothing',
      '/Send',
      '/send/',
      '//send',
      '/send/x',
      '/events/',
      '/constructor',
      '/%73end',
    ]) {
      const answer = await get(`${url}${path}`);
      expect([answer.status, answer.body.error.code], path).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      expect(answer.headers.get('content-type'), path).to.match(/^application\/json/);
    }
  });

  it('another method is 405 METHOD_NOT_ALLOWED with Allow', async () => {
    const { url } = await startGateway({ app: echo });
    for (const { http, path } of Object.values(OPERATIONS)) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
        if (method === http) continue;
        const response = await request(`${url}${path}`, method);
        expect(response.status, `${method} ${path}`).to.equal(405);
        expect(response.headers.get('allow')!.split(', '), `${method} ${path}`).to.include(http);
        expect(((await response.json()) as any).error.code).to.equal('METHOD_NOT_ALLOWED');
      }
    }
    expect((await request(`${url}/events`, 'POST')).headers.get('allow')).to.include('GET');
  });

  it('HEAD answers like GET without a body where the answer is JSON, so that health checks may use it', async () => {
    const { url } = await startGateway({ app: echo });
    for (const path of ['/healthz', '/readyz', '/status']) {
      const [asked, got] = [await request(`${url}${path}`, 'HEAD'), await request(`${url}${path}`, 'GET')];
      expect(asked.status, path).to.equal(200);
      expect(await asked.text()).to.equal('');
      expect(asked.headers.get('content-length')).to.equal(got.headers.get('content-length'));
      await got.text();
    }
    expect((await request(`${url}/send`, 'HEAD')).status).to.equal(405);
    expect((await request(`${url}/events?sessionId=main`, 'HEAD')).status).to.equal(405);
  });

  it('OPTIONS that is no preflight is 405 with Allow; a preflight without an Origin gives no CORS headers', async () => {
    const { url } = await startGateway({ app: echo });
    const plain = await request(`${url}/send`, 'OPTIONS');
    expect([plain.status, plain.headers.get('allow')]).to.deep.equal([405, 'POST']);
    const allowed = await preflight(`${url}/send`);
    expect(allowed.status).to.equal(204);
    expect(allowed.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('answers are JSON that nobody stores or sniffs', async () => {
    const { url } = await startGateway({ app: echo });
    for (const { headers } of [await get(`${url}/status`), await get(`${url}/history?sessionId=none`)]) {
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
    }
  });

  it('an absolute-form target and an empty one do no harm', async () => {
    const { url } = await startGateway({ app: echo });
    for (const target of [`${url}/status`, '*', '?x=1', '/status#x', '/status?%']) {
      const answer = await rawRequest(
        url,
        head(`GET ${target}`, { Host: '127.0.0.1', Authorization: `Bearer ${TOKEN}` }),
      );
      expect([200, 400, 404], target).to.include(answer.status);
    }
    expect((await get(`${url}/status`)).status).to.equal(200);
  });

  it('HTTP/1.0 gets its stream too', async () => {
    const { url } = await startGateway({ app: echo });
    const body = '{"sessionId":"main","message":"hi"}';
    const answer = await rawRequest(
      url,
      `POST /send HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer.status).to.equal(200);
    expect(answer.body)
      .to.match(/^event: message_accepted\n/)
      .and.match(/event: message_end\n/);
  });
});

describe('extraRoutes', () => {
  const listed = ['/send', '/invoke', '/subscribe', '/abort', '/close', '/tool-response', '/channel'];
  const extra = ['/history', '/sessions', '/apps', '/status', '/methods', '/healthz', '/readyz'];

  it("a prefix moves the routes beyond the specification's, and leaves the others", async () => {
    const { url } = await startGateway({ app: echo, extraRoutes: '/_gateway' });
    for (const path of extra) {
      expect((await get(`${url}${path}`)).status, path).to.equal(404);
      const moved = await get(`${url}/_gateway${path}${path === '/history' ? '?sessionId=none' : ''}`);
      expect(moved.body.error?.code ?? 'none', path).to.be.oneOf(['none', 'SESSION_NOT_FOUND']);
    }
    expect((await post(`${url}/_gateway/ticket`, {})).status).to.equal(200);
    for (const path of listed) expect((await post(`${url}${path}`, {})).status, path).to.equal(400);
  });

  it('false drops them', async () => {
    const { url } = await startGateway({ app: echo, extraRoutes: false });
    for (const path of extra) expect((await get(`${url}${path}`)).status, path).to.equal(404);
    expect((await post(`${url}/ticket`, {})).status).to.equal(404);
    for (const path of listed) expect((await post(`${url}${path}`, {})).status, path).to.equal(400);
  });
});
