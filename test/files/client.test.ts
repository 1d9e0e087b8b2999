import { expect } from 'chai';
import { createFiles, type FileSource } from '../../client/files/index.js';
import { defineApp } from '../../server/index.js';
import { connectClient, failure } from '../support/client.js';
import { PNG } from '../support/files.js';
import { startGateway } from '../support/gateway.js';
import { byName } from '../support/users.js';

const app = defineApp({
  run: async (turn) => turn.message.content.map((block) => ('fileId' in block ? block.mediaType : '')).join(),
});

async function start(config: object = {}, options: object = {}) {
  const { url } = await startGateway({ app, auth: byName, ...config });
  return { url, files: createFiles({ baseUrl: url, token: 'alice', ...options }) };
}

const text = async (response: Response | Promise<Response>) => (await response).text();

describe('createFiles', () => {
  it('uploads blobs, bytes and streams, which the client then sends, and reads them again', async () => {
    const { url, files } = await start();
    const stream = () => new Blob(['stream ', 'of text']).stream() as ReadableStream<Uint8Array>;
    const sources: readonly [FileSource, object, object][] = [
      [
        new File([PNG], 'ä dot.png', { type: 'text/html' }),
        {},
        { name: 'ä dot.png', mediaType: 'image/png' },
      ],
      [new Blob(['a,b'], { type: 'text/csv' }), { name: 'x.csv' }, { name: 'x.csv', mediaType: 'text/csv' }],
      [new Uint8Array([0, 1, 255]), {}, { size: 3, mediaType: 'application/octet-stream' }],
      [new Uint8Array([65]).buffer, { mediaType: 'text/markdown' }, { mediaType: 'text/markdown' }],
      [new Uint8Array(0), {}, { size: 0 }],
      [stream(), { mediaType: 'text/plain' }, { size: 14, mediaType: 'text/plain' }],
    ];
    for (const [source, options, wanted] of sources) {
      const file = await files.upload(source, options);
      expect(file).to.deep.include(wanted);
      expect(file.url).to.equal(`${url}/files/${file.fileId}`).and.equal(files.url(file.fileId));
      expect((await (await files.download(file.fileId)).blob()).size).to.equal(file.size);
    }
    const { fileId, mediaType } = await files.upload(stream());
    expect(await text(files.download(fileId, { range: { start: 7 } }))).to.equal('of text');
    expect(await text(files.download(fileId, { range: { start: 0, end: 5 } }))).to.equal('stream');
    const client = connectClient(url, { token: 'alice' });
    const { message } = await client.send('main', [{ type: 'file', mediaType, fileId }]).result;
    expect(message.content).to.deep.equal([{ type: 'text', text: 'text/plain' }]);
  });

  it('finds them where the routes were moved', async () => {
    const { url, files } = await start({ extraRoutes: '/_gateway' }, { extraRoutes: '/_gateway' });
    const file = await files.upload(PNG);
    expect(file.url).to.equal(`${url}/_gateway/files/${file.fileId}`);
    expect((await files.download(file.fileId)).status).to.equal(200);
  });

  it('rejects with what the gateway said, and with ABORTED for its signal', async () => {
    const { files } = await start({ limits: { fileBytes: 10 } });
    expect(await failure(files.upload(new Uint8Array(11)))).to.include({ code: 'PAYLOAD_TOO_LARGE' });
    expect(await failure(files.download('file_none'))).to.include({ code: 'FILE_NOT_FOUND' });
    const endless = new ReadableStream<Uint8Array>({ start: (it) => it.enqueue(new Uint8Array(1)) });
    const controller = new AbortController();
    const aborted = failure(files.upload(endless, { signal: controller.signal }));
    controller.abort();
    expect(await aborted).to.include({ code: 'ABORTED' });
    expect(() => createFiles({} as never)).to.throw('baseUrl is missing');
  });

  it('refreshes a token for what can be sent again', async () => {
    const refreshes: boolean[] = [];
    const token = ({ refresh }: { refresh: boolean }) => {
      refreshes.push(refresh);
      return refresh ? 'alice' : 'bad';
    };
    const { files } = await start({}, { token });
    expect(await files.upload(PNG)).to.include({ mediaType: 'image/png' });
    expect(refreshes).to.deep.equal([false, true]);
    const stream = new Blob(['x']).stream() as ReadableStream<Uint8Array>;
    expect(await failure(files.upload(stream))).to.include({ code: 'UNAUTHENTICATED' });
  });
});
