import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createFiles } from '../../client/files/index.js';
import { connectClient } from '../support/client.js';
import { isWholeDay } from '../support/daily.js';
import { ROOT, runCommand } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

const PROGRAM = fileURLToPath(new URL('./files-program.ts', import.meta.url));
const MIB = 1024 * 1024;
/** 1 GiB once a week. */
const SIZE = (isWholeDay ? 1024 : 256) * MIB;

/** A file of which no two MiB are the same, and its digest. */
function largeFile(): { readonly stream: ReadableStream<Uint8Array>; digest(): string } {
  const hash = createHash('sha256');
  let sent = 0;
  return {
    digest: () => hash.digest('hex'),
    stream: new ReadableStream(
      {
        pull(controller) {
          if (sent === SIZE) return controller.close();
          const chunk = new Uint8Array(MIB).fill(sent / MIB);
          new DataView(chunk.buffer).setFloat64(0, sent);
          hash.update(chunk);
          sent += MIB;
          controller.enqueue(chunk);
        },
      },
      { highWaterMark: 0 },
    ),
  };
}

describe(`a file of ${SIZE / MIB} MiB`, () => {
  it('goes through a gateway with a heap of 64 MiB, in and out and to the app', async function () {
    this.timeout(600_000);
    const path = join(tempDir(), 'gateway.db');
    const args = ['--max-old-space-size=64', '--import', 'tsx', PROGRAM, path];
    const program = runCommand(process.execPath, { args, cwd: ROOT });
    const url = (await program.prints(/listening on (\S+)/))[1]!;
    const files = createFiles({ baseUrl: url });
    const client = connectClient(url, { token: undefined });

    const { stream, digest } = largeFile();
    const { fileId, size, sha256, mediaType } = await files.upload(stream, { name: 'large.bin' });
    expect([size, sha256]).to.deep.equal([SIZE, digest()]);

    const hash = createHash('sha256');
    const { body } = await files.download(fileId);
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
    expect(hash.digest('hex')).to.equal(sha256);

    const last = await files.download(fileId, { range: { start: SIZE - MIB } });
    const tail = new Uint8Array(await last.arrayBuffer());
    expect([tail.length, new DataView(tail.buffer).getFloat64(0)]).to.deep.equal([MIB, SIZE - MIB]);

    const { message } = await client.send('main', [{ type: 'file', mediaType, fileId }]).result;
    expect(message.content).to.deep.equal([{ type: 'text', text: `${SIZE}` }]);

    // Bytes are not on the heap: they are bounded too.
    const { peak } = (await client.invoke('peak')) as { readonly peak: number };
    expect(peak)
      .to.be.above(0)
      .and.below(64 * MIB);
  });
});
