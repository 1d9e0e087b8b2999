import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { defineApp, gatewayMiddleware, type ToolContext, tool } from '../../../server/index.js';
import { mcpServerPlugin } from '../../../server/plugins/mcp/index.js';
import { EXPRESS_HOSTS } from '../../support/express-hosts.js';
import { TestLogger } from '../../support/gateway.js';
import { listenOnLoopback } from '../../support/host-server.js';
import { withoutPackage } from '../../support/missing-package.js';
import { ROOT } from '../../support/program.js';
import { closeLater } from '../../support/resources.js';
import { as, byName } from '../../support/users.js';
import { CLIENTS } from './mcp-clients.js';

const who = defineApp({
  run: () => 'unused',
  tools: { who: tool({ handler: (_input, { user }: ToolContext) => user!.id }) },
});

for (const host of EXPRESS_HOSTS) {
  describe(`mcpServerPlugin in ${host.name}`, () => {
    for (const { name, connect } of CLIENTS) {
      it(`serves ${name} behind express.json(), and leaves the host's own auth alone`, async () => {
        const router = gatewayMiddleware({ app: who, auth: byName, logger: new TestLogger() });
        closeLater(router.gateway, (it) => it.close());
        router.gateway.use(mcpServerPlugin({ sessionId: 'main' }));
        const app = host.app();
        const auths: unknown[] = [];
        app.use(host.express.json());
        app.use((request, response, next) => {
          (request as { auth?: unknown }).auth = 'of the host';
          response.on('close', () => setImmediate(() => auths.push((request as { auth?: unknown }).auth)));
          next();
        });
        app.use('/agent', router);
        const client = await connect(`${await listenOnLoopback(app)}/agent/mcp`, as('bob'));
        expect((await client.call('who')).content[0].text).to.equal('bob');
        await client.close();
        expect(auths.length).to.be.above(0);
        expect(new Set(auths)).to.deep.equal(new Set(['of the host']));
      });
    }
  });
}

describe('mcpServerPlugin without its packages', () => {
  it('names what to install when the gateway starts', () => {
    const program = `
      import { createGateway, defineApp } from './server/index.js';
      import { mcpServerPlugin } from './server/plugins/mcp/index.js';
      const gateway = createGateway({ app: defineApp({ run: () => '' }), port: 0 });
      gateway.use(mcpServerPlugin({ sessionId: 'main' }));
      await gateway.start().catch((error) => console.log(error.code, error.message));
      await gateway.close();`;
    const preload = withoutPackage('@modelcontextprotocol/');
    const args = ['--import', 'tsx', '--import', preload, '--input-type=module', '--eval', program];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    expect(stdout, stderr).to.equal(
      'INTERNAL mcpServerPlugin needs the package @modelcontextprotocol/server: npm install @modelcontextprotocol/server @modelcontextprotocol/node\n',
    );
  });
});
