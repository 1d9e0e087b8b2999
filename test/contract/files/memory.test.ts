import { expect } from 'chai';
import { memoryFiles } from '../../../server/index.js';
import { fileStoreContract } from './suite.js';

fileStoreContract({ name: 'memory', open: () => memoryFiles() });

describe('files in memory', () => {
  it('are bounded together, also while they are uploaded', async () => {
    const store = memoryFiles({ maxBytes: 10 });
    const put = (fileId: string, size: number) =>
      store.put(
        (async function* () {
          for (let at = 0; at < size; at += 1) yield new Uint8Array(1);
        })(),
        () => ({ fileId, scope: 's', by: 's', mediaType: 'a/b', size, sha256: '', createdAt: 0 }),
      );
    await put('a', 6);
    const code = await put('b', 5).then(
      () => 'kept',
      (error) => error.code,
    );
    expect(code).to.equal('QUOTA_EXCEEDED');
    await put('c', 4);
    await store.delete('s', 'a');
    await put('d', 6);
    expect(await store.usage('s')).to.deep.equal({ files: 2, bytes: 10 });
  });
});
