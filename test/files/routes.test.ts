import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { directoryFiles, type GatewayConfig, memoryFiles } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { PNG, uploaded, uploadTo } from '../support/files.js';
import { gate } from '../support/gate.js';
import { preflight, startGateway } from '../support/gateway.js';
import { rawClient } from '../support/raw-client.js';
import { tempDir } from '../support/temp-dir.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';

const start = (config: Partial<GatewayConfig<any>> = {}) =>
  startGateway({ app: echo, auth: byName, ...config });
const read = (url: string, fileId: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${url}/files/${fileId}`, { method, headers: { ...as('alice'), ...headers } });
const errorOf = ({ status, body }: { status: number; body: any }) => [status, body.error.code];

/** A stream of so many bytes; it ends, or fails, when the test says. */
function bodyOf(bytes: number, over: Promise<void> = Promise.resolve()): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    async pull(controller) {
      if (left > 0) {
        const size = Math.min(left, 65_536);
        left -= size;
        return controller.enqueue(new Uint8Array(size).fill(7));
      }
      await over.catch((error) => controller.error(error));
      try {
        controller.close();
      } catch {
        // It has failed.
      }
    },
  });
}

describe('POST /files', () => {
  it('answers what was kept, and where it is read', async () => {
    const { url } = await start();
    const { status, headers, body } = await uploadTo(url, PNG, { query: '?name=a%20%C3%A4.png' });
    expect(status).to.equal(201);
    expect(body).to.deep.equal({
      fileId: body.fileId,
      url: `files/${body.fileId}`,
      name: 'a ä.png',
      mediaType: 'image/png',
      size: PNG.length,
      sha256: createHash('sha256').update(PNG).digest('hex'),
    });
    expect(body.fileId).to.match(/^file_[A-Za-z0-9_-]{32}$/);
    expect(headers.get('location')).to.equal(body.url);
    const response = await fetch(new URL(body.url, `${url}/files?name=x`), { headers: as('alice') });
    expect(new Uint8Array(await response.arrayBuffer())).to.deep.equal(PNG);
  });

  it('answers the same for the same bytes under the same name and type, and keeps them once', async () => {
    const { url } = await start({ limits: { userFileBytes: 300_000 } });
    const body = () => new Uint8Array(200_000).fill(1);
    const first = await uploaded(url, body(), { query: '?name=a' });
    expect(await uploaded(url, bodyOf(0), { query: '?name=a' })).to.not.include({ fileId: first.fileId });
    expect(errorOf(await uploadTo(url, body(), { query: '?name=b' }))).to.deep.equal([507, 'QUOTA_EXCEEDED']);
    const { url: wide } = await start();
    const again = await uploaded(wide, body(), { query: '?name=a' });
    expect(await uploaded(wide, body(), { query: '?name=a' })).to.deep.equal(again);
    expect(again.fileId).to.equal(first.fileId);
    for (const other of ['?name=b', '', '?name=a&mediaType=application/x-b'])
      expect((await uploaded(wide, body(), { query: other })).fileId, other).to.not.equal(first.fileId);
  });

  it('finds out what a file is by its bytes, and believes its uploader of the rest alone', async () => {
    const { url } = await start();
    const typeOf = async (body: BodyInit, mediaType: string) =>
      (await uploaded(url, body, { query: `?mediaType=${encodeURIComponent(mediaType)}` })).mediaType;
    expect(await typeOf(PNG, 'text/html')).to.equal('image/png');
    expect(await typeOf('%PDF-1.7\n', 'image/png')).to.equal('application/pdf');
    expect(await typeOf('plain', 'image/png')).to.equal('text/plain');
    expect(await typeOf('a,b', 'text/csv; charset=latin1')).to.equal('text/csv');
    expect(await typeOf('{}', 'application/json')).to.equal('application/json');
    expect(await typeOf('<html><script>1</script>', 'text/html')).to.equal('text/html');
    expect(await typeOf('<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml')).to.equal(
      'image/svg+xml',
    );
    expect(await typeOf(new Uint8Array([0, 1, 2, 255]), 'image/png')).to.equal('application/octet-stream');
    expect(await typeOf(new Uint8Array([0, 1, 2, 254]), 'application/x-own')).to.equal('application/x-own');
    expect(await typeOf('plain', 'not a type')).to.equal('text/plain');
    expect(await typeOf('ä'.repeat(4099), 'text/plain')).to.equal('text/plain');
    expect(await typeOf('', 'text/plain')).to.equal('text/plain');
    // Without the query it is the header that says so.
    expect((await uploaded(url, 'x;y', { headers: { 'content-type': 'text/csv' } })).mediaType).to.equal(
      'text/csv',
    );
  });

  it('refuses what is too large, with and without its length, and goes on with others', async () => {
    const { url } = await start({ limits: { fileBytes: 100_000 } });
    for (const body of [new Uint8Array(100_001), bodyOf(100_001), bodyOf(5_000_000)])
      expect(errorOf(await uploadTo(url, body))).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
    expect(await uploaded(url, bodyOf(100_000))).to.include({ size: 100_000 });
  });

  it('refuses what a user has no room for, counting uploads at the same time together', async () => {
    const { url } = await start({ limits: { userFileBytes: 1_000_000 } });
    const answers = await Promise.all([1, 2, 3].map((one) => uploadTo(url, bodyOf(400_000 + one))));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 201, 507]);
    expect((await uploadTo(url, bodyOf(400_004), { user: 'bob' })).status).to.equal(201);
    expect(errorOf(await uploadTo(url, bodyOf(400_005)))).to.deep.equal([507, 'QUOTA_EXCEEDED']);
    expect((await uploadTo(url, bodyOf(100_000))).status).to.equal(201);
    // Small files count for what they cost.
    const small = await start({ limits: { userFileBytes: 10_000 } });
    const statuses = [];
    for (const one of ['a', 'b', 'c']) statuses.push((await uploadTo(small.url, one)).status);
    expect(statuses).to.deep.equal([201, 201, 507]);
  });

  it('refuses more uploads than its rate, and more at once than streams', async () => {
    const slow = await start({ limits: { uploadsPerSecond: 1 } });
    const answers = [];
    for (const one of ['a', 'b', 'c']) answers.push(await uploadTo(slow.url, one));
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 429]);
    expect(errorOf(answers[2]!)).to.deep.equal([429, 'RATE_LIMITED']);
    expect(answers[2]!.headers.get('retry-after')).to.match(/^\d+$/);

    const few = await start({ limits: { streamsPerUser: 1 } });
    const over = gate();
    const open = uploadTo(few.url, bodyOf(10, over.passed));
    let other: Awaited<typeof open>;
    do other = await uploadTo(few.url, 'x');
    while (other.status === 201);
    expect(errorOf(other)).to.deep.equal([429, 'TOO_MANY_CONNECTIONS']);
    over.open();
    expect((await open).status).to.equal(201);
    expect((await uploadTo(few.url, 'x')).status).to.equal(201);
  });

  it('refuses forms, compressed bodies and names that are no names', async () => {
    const { url } = await start();
    const form = new FormData();
    form.set('file', new Blob(['x']));
    const sent = await fetch(`${url}/files`, { method: 'POST', body: form, headers: as('alice') });
    expect([sent.status, (await sent.json()).error.code]).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const zipped = await uploadTo(url, 'x', { headers: { 'content-encoding': 'gzip' } });
    expect(errorOf(zipped)).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const plain = await uploadTo(url, 'x', { headers: { 'content-encoding': 'identity' } });
    expect(plain.status).to.equal(201);
    for (const name of ['', '../x', 'a\\b', 'a\nb', 'x'.repeat(256)]) {
      const answer = await uploadTo(url, 'x', { query: `?name=${encodeURIComponent(name)}` });
      expect(errorOf(answer), name).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(answer.body.error.details[0].path).to.equal('name');
    }
  });

  it('is for those who say who they are, and not while the gateway shuts down', async () => {
    const { url, gateway } = await start();
    expect(errorOf(await uploadTo(url, 'x', { user: 'bad' }))).to.deep.equal([401, 'UNAUTHENTICATED']);
    const response = await fetch(`${url}/files`, { headers: as('alice') });
    expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'POST']);
    const closing = gateway.close();
    const late = await gateway.fetch(
      new Request(`${url}/files`, { method: 'POST', body: 'x', headers: as('alice') }),
    );
    expect([late.status, (await late.json()).error.code]).to.deep.equal([503, 'SHUTTING_DOWN']);
    await closing;
  });

  it('keeps nothing of an upload that is cut off, neither bytes nor record', async () => {
    const path = join(tempDir(), 'files');
    const { url } = await start({ files: directoryFiles({ path }), limits: { userFileBytes: 1_000_000 } });
    const writing = () => readdirSync(join(path, '.tmp'));
    for (const head of ['Content-Length: 500000', 'Transfer-Encoding: chunked']) {
      const client = rawClient(url);
      client.socket.write(
        `POST /files HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer alice\r\n${head}\r\n\r\n`,
      );
      client.socket.write(head.startsWith('T') ? `186A0\r\n${'x'.repeat(100_000)}` : 'x'.repeat(100_000));
      await until(() => {
        try {
          return writing().length === 1;
        } catch {
          return false;
        }
      });
      client.socket.destroy();
      await until(() => writing().length === 0);
    }
    expect(readdirSync(path)).to.deep.equal(['.tmp']);
    // Nor does it count.
    expect((await uploadTo(url, bodyOf(990_000))).status).to.equal(201);
  });

  it('takes its time as long as something comes, and is cut off when nothing does', async () => {
    const path = join(tempDir(), 'files');
    const { url } = await start({
      files: directoryFiles({ path }),
      limits: { handshakeMs: 100, slowClientMs: 300 },
    });
    const over = gate();
    const slow = uploadTo(
      url,
      new ReadableStream({
        async start(controller) {
          // Longer than a body of JSON may take, and than anything may take without a byte.
          for (let at = 0; at < 20; at += 1) {
            controller.enqueue(new Uint8Array([at]));
            await new Promise((resolve) => setTimeout(resolve, 30));
          }
          over.open();
          controller.close();
        },
      }),
    );
    const silent = rawClient(url);
    silent.socket.write(
      'POST /files HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer alice\r\nContent-Length: 9\r\n\r\nx',
    );
    await silent.closed;
    await over.passed;
    expect((await slow).body).to.include({ size: 20 });
    expect(readdirSync(join(path, '.tmp'))).to.deep.equal([]);
  });

  it('says that the disk is full as what it is', async () => {
    const files = { ...memoryFiles(), usage: async () => ({ files: 0, bytes: 0 }) };
    const failing = (code: string) => ({
      ...files,
      put: async () => {
        throw Object.assign(new Error(code), { code });
      },
    });
    const full = await start({ files: failing('ENOSPC') as never });
    expect(errorOf(await uploadTo(full.url, 'x'))).to.deep.equal([507, 'QUOTA_EXCEEDED']);
    const broken = await start({ files: failing('EIO') as never });
    expect(errorOf(await uploadTo(broken.url, 'x'))).to.deep.equal([503, 'OVERLOADED']);
    expect(broken.log.lines.map(({ message }) => message)).to.include('keeping a file');
  });
});

describe('GET /files/{fileId}', () => {
  const text = '0123456789';
  /** More than sockets take by themselves. */
  const LARGE = 25_000_000;

  it('serves the file, its head, and nothing to those who have it', async () => {
    const { url } = await start();
    const { fileId, sha256 } = await uploaded(url, text, { query: '?name=n%C3%A4%22me.txt' });
    const whole = await read(url, fileId);
    expect(await whole.text()).to.equal(text);
    const head = await read(url, fileId, {}, 'HEAD');
    expect(await head.text()).to.equal('');
    for (const { status, headers } of [whole, head]) {
      expect(status).to.equal(200);
      expect(headers.get('content-length')).to.equal('10');
      expect(headers.get('content-type')).to.equal('text/plain; charset=utf-8');
      expect(headers.get('accept-ranges')).to.equal('bytes');
      expect(headers.get('etag')).to.equal(`"${sha256}"`);
      expect(headers.get('cache-control')).to.equal('private, no-cache');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy')).to.match(/default-src 'none'.*sandbox$/);
      expect(headers.get('content-disposition')).to.equal(
        `inline; filename="n__me.txt"; filename*=UTF-8''n%C3%A4%22me.txt`,
      );
    }
    for (const etag of [`"${sha256}"`, `W/"${sha256}"`, `"x", "${sha256}"`, '*']) {
      const fresh = await read(url, fileId, { 'if-none-match': etag });
      expect([fresh.status, await fresh.text()], etag).to.deep.equal([304, '']);
    }
    expect((await read(url, fileId, { 'if-none-match': '"x"' })).status).to.equal(200);
  });

  it('serves the part that is asked for (RFC 9110, section 14)', async () => {
    const { url } = await start();
    const { fileId, sha256 } = await uploaded(url, text);
    const part = async (range: string, headers: Record<string, string> = {}) => {
      const response = await read(url, fileId, { range, ...headers });
      const body = await response.text();
      return [response.status, response.status >= 400 ? '' : body, response.headers.get('content-range')];
    };
    expect(await part('bytes=0-0')).to.deep.equal([206, '0', 'bytes 0-0/10']);
    expect(await part('bytes=3-5')).to.deep.equal([206, '345', 'bytes 3-5/10']);
    expect(await part('bytes=7-')).to.deep.equal([206, '789', 'bytes 7-9/10']);
    expect(await part('bytes=7-99')).to.deep.equal([206, '789', 'bytes 7-9/10']);
    expect(await part('bytes=-4')).to.deep.equal([206, '6789', 'bytes 6-9/10']);
    expect(await part('bytes=-99')).to.deep.equal([206, text, 'bytes 0-9/10']);
    for (const none of ['bytes=10-', 'bytes=10-20', 'bytes=-0'])
      expect(await part(none), none).to.deep.equal([416, '', 'bytes */10']);
    for (const all of ['bytes=5-3', 'bytes=0-1,4-5', 'bytes=-', 'lines=0-1', 'bytes=a-b', 'x'])
      expect(await part(all), all).to.deep.equal([200, text, null]);
    expect(await part('bytes=3-5', { 'if-range': `"${sha256}"` })).to.deep.equal([
      206,
      '345',
      'bytes 3-5/10',
    ]);
    expect(await part('bytes=3-5', { 'if-range': '"other"' })).to.deep.equal([200, text, null]);
    const refused = await read(url, fileId, { range: 'bytes=10-' });
    expect((await refused.json()).error.code).to.equal('RANGE_NOT_SATISFIABLE');
    const empty = await uploaded(url, '');
    expect(await (await read(url, empty.fileId)).text()).to.equal('');
    expect((await read(url, empty.fileId, { range: 'bytes=0-' })).status).to.equal(416);
  });

  it('serves what could run in a page as bytes to be saved', async () => {
    const { url } = await start();
    for (const [mediaType, served, shown] of [
      ['text/html', 'application/octet-stream', 'attachment'],
      ['image/svg+xml', 'application/octet-stream', 'attachment'],
      ['application/xhtml+xml', 'application/octet-stream', 'attachment'],
      ['text/javascript', 'application/octet-stream', 'attachment'],
      ['text/css', 'application/octet-stream', 'attachment'],
      ['text/xml', 'application/octet-stream', 'attachment'],
      ['text/csv', 'text/csv; charset=utf-8', 'attachment'],
      ['application/json', 'application/json', 'attachment'],
      ['text/plain', 'text/plain; charset=utf-8', 'inline'],
    ]) {
      const { fileId } = await uploaded(url, '<x>', {
        query: `?mediaType=${encodeURIComponent(mediaType!)}`,
      });
      const { headers } = await read(url, fileId);
      const said = [headers.get('content-type'), headers.get('content-disposition')];
      expect(said, mediaType).to.deep.equal([served, shown]);
    }
    const { headers } = await read(url, (await uploaded(url, PNG)).fileId);
    expect([headers.get('content-type'), headers.get('content-disposition')]).to.deep.equal([
      'image/png',
      'inline',
    ]);
  });

  it('cuts off who takes nothing, and reads the file no further', async () => {
    const kept = memoryFiles();
    const over = gate();
    let served = 0;
    async function* watched(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of bytes) {
          served += chunk.length;
          yield chunk;
        }
      } finally {
        over.open();
      }
    }
    const readKept = kept.read.bind(kept);
    const files = Object.assign(kept, {
      read: async (scope: string, fileId: string) => watched((await readKept(scope, fileId))!),
    });
    const { url } = await start({ files, limits: { slowClientMs: 200 } });
    const { fileId } = await uploaded(url, bodyOf(LARGE));
    const client = rawClient(url);
    client.socket.pause();
    client.socket.write(
      `GET /files/${fileId} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer alice\r\n\r\n`,
    );
    await over.passed;
    expect(served).to.be.below(LARGE);
    client.socket.resume();
    await client.closed;
    expect((await (await read(url, fileId)).arrayBuffer()).byteLength).to.equal(LARGE);
  });

  it('is 404 for what is not there, and 405 for what it does not do', async () => {
    const { url } = await start();
    const missing = await read(url, 'file_x');
    expect([missing.status, (await missing.json()).error.code]).to.deep.equal([404, 'FILE_NOT_FOUND']);
    expect((await read(url, '')).status).to.equal(404);
    const other = await read(url, 'file_x', {}, 'PUT');
    expect([other.status, other.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    expect((await read(url, 'file_x', { authorization: 'Bearer bad' })).status).to.equal(401);
  });

  it('lets pages of listed origins ask for parts, and read which they got', async () => {
    const { url } = await start({ origins: ['https://page.test'] });
    const origin = 'https://page.test';
    const asked = await preflight(`${url}/files/file_x`, origin, 'GET');
    expect(asked.status).to.equal(204);
    expect(asked.headers.get('access-control-allow-headers')).to.include('Range');
    const { fileId } = await uploaded(url, 'x');
    const { headers } = await read(url, fileId, { origin });
    expect(headers.get('access-control-expose-headers')).to.include('Content-Range').and.include('ETag');
  });
});
