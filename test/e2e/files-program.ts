import { createGateway, defineApp, getContext, method } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import '../support/shipped-limits.js';

/** A gateway that keeps files beside its database, for tests that watch its memory. */
let peak = 0;
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().arrayBuffers);
}, 5);

const gateway = createGateway({
  port: 0,
  auth: { type: 'none' },
  store: sqliteStore({ path: process.argv[2]! }),
  limits: { fileBytes: 2 ** 31, shared: { fileBytes: 2 ** 32 } },
  methods: { peak: method({ handler: async () => ({ by: getContext().user?.id, peak }) }) },
  app: defineApp({
    async *run(turn) {
      for (const block of turn.message.content) {
        if (!('fileId' in block) || !block.fileId) continue;
        const file = await turn.file(block.fileId);
        let size = 0;
        for await (const chunk of file.stream() as unknown as AsyncIterable<Uint8Array>) size += chunk.length;
        yield `${size}`;
      }
    },
  }),
});

gateway.start().then(({ url }) => console.log(`listening on ${url}`));
