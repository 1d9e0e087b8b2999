import { expect } from 'chai';
import { OPERATIONS } from '../../../shared/operations.js';
import { echo } from '../../support/apps.js';
import { get, post, startGateway, TOKEN } from '../../support/gateway.js';
import { head, rawRequest } from '../../support/raw-http.js';
import { openStream } from '../../support/sse-client.js';

const routes: [method: string, path: string][] = [
  ...Object.values(OPERATIONS).map(({ http, path }): [string, string] => [http, path]),
  ['GET', '/events?sessionId=main'],
  ['GET', '/healthz'],
  ['GET', '/readyz'],
];

describe('the Host header on loopback', () => {
  it('of a foreign name (DNS rebinding) is ORIGIN_DENIED on every route', async () => {
    const { url } = await startGateway({ app: echo });
    const { port } = new URL(url);
    for (const [method, path] of routes) {
      for (const host of [
        `evil.test:${port}`,
        'evil.test',
        `localhost.evil.test:${port}`,
        `127.0.0.1.evil.test`,
        '',
      ]) {
        const answer = await rawRequest(
          url,
          head(`${method} ${path}`, { Host: host, Authorization: `Bearer ${TOKEN}` }),
        );
        expect(answer.status, `${method} ${path} as ${host}`).to.equal(403);
        expect(JSON.parse(answer.body).error).to.include({ code: 'ORIGIN_DENIED' });
      }
    }
  });

  it('of the machine itself passes in every spelling', async () => {
    const { url } = await startGateway({ app: echo });
    const { port } = new URL(url);
    for (const host of [`127.0.0.1:${port}`, 'localhost', `LOCALHOST:${port}`, `[::1]:${port}`]) {
      const answer = await rawRequest(
        url,
        head('GET /status', { Host: host, Authorization: `Bearer ${TOKEN}` }),
      );
      expect(answer.status, host).to.equal(200);
    }
  });

  it('is named when it is refused, with the option that would allow it', async () => {
    const { url } = await startGateway({ app: echo });
    const answer = await rawRequest(url, head('GET /status', { Host: 'agent.example:8080' }));
    expect(JSON.parse(answer.body).error.message)
      .to.contain('"agent.example:8080"')
      .and.contain('allowedHosts');
  });

  it('allowedHosts adds names', async () => {
    const { url } = await startGateway({ app: echo, allowedHosts: ['Gateway.Example'] });
    expect((await rawRequest(url, head('GET /healthz', { Host: 'gateway.example:80' }))).status).to.equal(
      200,
    );
    expect((await rawRequest(url, head('GET /healthz', { Host: 'other.example' }))).status).to.equal(403);
  });
});

describe('the Origin header', () => {
  const body = { sessionId: 'main', message: 'hi' };

  for (const origin of [
    'https://evil.test',
    'null',
    'http://localhost.evil.test',
    'http://127.0.0.1:1',
    'not an origin',
    'http://',
  ]) {
    it(`of another page (${origin}) is ORIGIN_DENIED without effect and without CORS headers`, async () => {
      const { url } = await startGateway({ app: echo });
      const answers = [
        await post(`${url}/send`, body, { origin }),
        await get(`${url}/events?sessionId=main`, { origin }),
        await get(`${url}/status`, { origin }),
      ];
      for (const { status, body: answer, headers } of answers) {
        expect([status, answer.error.code]).to.deep.equal([403, 'ORIGIN_DENIED']);
        expect(headers.get('access-control-allow-origin')).to.equal(null);
      }
      expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
      const preflight = await fetch(`${url}/send`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      expect(preflight.status).to.equal(403);
      expect(preflight.headers.get('access-control-allow-origin')).to.equal(null);
    });
  }

  it('is named when it is refused, with the host it called and the option that would allow it', async () => {
    const { url } = await startGateway({ app: echo });
    const { message } = (await get(`${url}/status`, { origin: 'http://localhost:5173' })).body.error;
    expect(message)
      .to.contain('"http://localhost:5173"')
      .and.contain(`"${new URL(url).host}"`);
    expect(message).to.match(/option origins/);
  });

  it('of a page of this machine passes where a proxy changed Host and the browser says it is the same origin', async () => {
    const { url } = await startGateway({ app: echo });
    const status = async (origin: string, site: string): Promise<number> => {
      const fields = { Host: new URL(url).host, Origin: origin, 'Sec-Fetch-Site': site };
      const request = head('GET /status', { ...fields, Authorization: `Bearer ${TOKEN}` });
      return (await rawRequest(url, request)).status;
    };
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:5173', 'http://[::1]:5173']) {
      expect(await status(origin, 'same-origin'), origin).to.equal(200);
      for (const site of ['same-site', 'cross-site', 'none'])
        expect(await status(origin, site)).to.equal(403);
    }
    for (const origin of ['http://rebound.test:5173', 'http://127.0.0.1.evil.test', 'null']) {
      expect(await status(origin, 'same-origin'), origin).to.equal(403);
    }
  });

  it('of the same origin passes, without CORS headers', async () => {
    const { url } = await startGateway({ app: echo });
    const answer = await post(`${url}/send`, body, { origin: url });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('that is listed gets CORS headers on answers, errors and streams, and a preflight', async () => {
    const origin = 'https://app.example';
    const { url } = await startGateway({ app: echo, origins: [origin] });
    const stream = await openStream(`${url}/events?sessionId=main`, {
      headers: { authorization: `Bearer ${TOKEN}`, origin },
    });
    const answers = [
      (await post(`${url}/send`, body, { origin })).headers,
      (await get(`${url}/status`, { origin, authorization: '' })).headers,
      (await get(`${url}/history?sessionId=none`, { origin })).headers,
      stream.response.headers,
    ];
    for (const headers of answers) {
      expect(headers.get('access-control-allow-origin')).to.equal(origin);
      expect(headers.get('access-control-allow-credentials')).to.equal('true');
      expect(headers.get('vary')).to.match(/origin/i);
      expect(headers.get('access-control-expose-headers')).to.match(/retry-after/i);
    }
    const asked = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    };
    const preflight = await fetch(`${url}/send`, { method: 'OPTIONS', headers: asked });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('access-control-allow-origin')).to.equal(origin);
    expect(preflight.headers.get('access-control-allow-methods')).to.equal('POST');
    for (const name of ['authorization', 'content-type', 'idempotency-key', 'last-event-id', 'prefer']) {
      expect(preflight.headers.get('access-control-allow-headers')!.toLowerCase()).to.include(name);
    }
  });

  it('that merely resembles a listed one is refused', async () => {
    const { url } = await startGateway({ app: echo, origins: ['https://app.example'] });
    for (const origin of [
      'https://app.example.evil.test',
      'http://app.example',
      'https://app.example:8443',
      'https://APP.example/',
    ]) {
      expect((await get(`${url}/status`, { origin })).status, origin).to.equal(403);
    }
  });

  it('is listed also where it is written with a slash, in capitals, with the usual port or in its own script', async () => {
    const origins = [
      'https://App.example/',
      'HTTP://plain.example:80',
      'https://bücher.example',
      'tauri://localhost',
    ];
    const { url } = await startGateway({ app: echo, origins });
    for (const origin of [
      'https://app.example',
      'http://plain.example',
      'https://xn--bcher-kva.example',
      'tauri://localhost',
    ]) {
      const { status, headers } = await get(`${url}/status`, { origin });
      expect([status, headers.get('access-control-allow-origin')]).to.deep.equal([200, origin]);
    }
  });

  describe('may be for a function to judge', () => {
    const preview = /^https:\/\/pr-\d+\.app\.example$/;

    it('which is asked once a request, with the request, and CORS headers follow it', async () => {
      const asked: unknown[] = [];
      const { url } = await startGateway({
        app: echo,
        origins: (origin, { headers, ip }) => {
          asked.push([origin, headers['x-from'], ip]);
          return preview.test(origin);
        },
      });
      const origin = 'https://pr-12.app.example';
      const good = await post(`${url}/send`, body, { origin, 'x-from': 'a test' });
      expect([good.status, good.headers.get('access-control-allow-origin')]).to.deep.equal([200, origin]);
      expect(good.headers.get('vary')).to.match(/origin/i);
      expect(asked).to.deep.equal([[origin, 'a test', '127.0.0.1']]);
      const asks = { origin, 'access-control-request-method': 'POST' };
      const preflight = await fetch(`${url}/send`, { method: 'OPTIONS', headers: asks });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).to.deep.equal([
        204,
        origin,
      ]);
      const other = await post(`${url}/send`, body, { origin: 'https://pr-12.app.example.evil.test' });
      expect([other.status, other.body.error.code]).to.deep.equal([403, 'ORIGIN_DENIED']);
      expect(other.body.error.message).to.match(/option origins/);
      expect(other.headers.get('access-control-allow-origin')).to.equal(null);
      expect((await post(`${url}/send`, body, { origin: url })).status).to.equal(200);
    });

    it('but never "null", nor what is no origin', async () => {
      const { url } = await startGateway({ app: echo, origins: () => true });
      for (const origin of [
        'null',
        'not an origin',
        'https://app.example/',
        'https://APP.example',
        'http://',
      ]) {
        expect((await get(`${url}/status`, { origin })).status, origin).to.equal(403);
      }
    });

    for (const [title, answer] of [
      [
        'throws',
        () => {
          throw new Error('not now');
        },
      ],
      ['answers later', async () => true],
      [
        'fails later',
        async () => {
          throw new Error('not now');
        },
      ],
      ['answers neither true nor false', () => 'yes'],
    ] as const) {
      it(`and where it ${title} the origin is refused, and the log says so`, async () => {
        const lines: string[] = [];
        const note = (details: object, message: string) => {
          lines.push(`${message} ${JSON.stringify(details)}`);
        };
        const { url } = await startGateway({
          app: echo,
          origins: answer as () => boolean,
          logger: { warn: note, error: note },
        });
        const { status, body: answered } = await get(`${url}/status`, { origin: 'https://app.example' });
        expect([status, answered.error.code]).to.deep.equal([403, 'ORIGIN_DENIED']);
        expect(lines.filter((line) => line.startsWith('origins '))).to.have.length(1);
      });
    }
  });
});
