import { expect } from 'chai';
import { defineApp, memoryFiles, tool, toolResult } from '../../../server/index.js';
import { failure } from '../../support/client.js';
import { PNG, uploaded } from '../../support/files.js';
import { as } from '../../support/users.js';
import { CLIENTS, startMcp } from './mcp-clients.js';

const app = defineApp({
  run: () => 'unused',
  tools: {
    show: tool({
      handler: ({ fileId }: any) =>
        toolResult({ content: [{ type: 'image', mediaType: 'image/png', name: 'a.png', fileId }] }),
    }),
  },
});

for (const { name, connect } of CLIENTS)
  describe(`uploaded files, to ${name}`, () => {
    it('are linked by results that name them, and read by their user alone', async () => {
      const { url, base } = await startMcp({ app, files: memoryFiles() });
      const { fileId } = await uploaded(base, PNG);
      const client = await connect(url);
      const [link] = (await client.call('show', { fileId })).content;
      expect(link).to.deep.equal({
        type: 'resource_link',
        uri: `gateway:///files/${fileId}`,
        name: 'a.png',
        mimeType: 'image/png',
      });
      expect(await client.read(link.uri)).to.deep.equal(['image/png', Buffer.from(PNG).toString('base64')]);
      const eve = await connect(url, as('eve'));
      const unseen = await failure(eve.read(link.uri));
      const missing = await failure(eve.read(link.uri.slice(0, -1)));
      expect(unseen.code).to.equal(missing.code);
      expect(unseen.code).to.be.oneOf([-32002, -32602]);
    });

    it('are not what other addresses name', async () => {
      const { url } = await startMcp({ app, files: memoryFiles() });
      const client = await connect(url);
      for (const uri of ['file:///etc/passwd', 'gateway:///files/', 'gateway:///files/%zz', 'gateway:///x'])
        expect((await failure(client.read(uri))).code, uri).to.be.oneOf([-32002, -32602]);
    });

    it('are not read into memory beyond the limit for that', async () => {
      const { url, base } = await startMcp({ app, files: memoryFiles(), limits: { inlineFileBytes: 10 } });
      const { fileId } = await uploaded(base, PNG);
      const client = await connect(url);
      const refused = await failure(client.read(`gateway:///files/${fileId}`));
      expect(refused.message).to.contain('limits.inlineFileBytes');
    });
  });
