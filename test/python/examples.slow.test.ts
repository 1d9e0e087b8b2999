import { join } from 'node:path';
import { expect } from 'chai';
import { describeWith } from '../support/describe-with.js';
import { ROOT, runProgram } from '../support/program.js';
import { NEEDS_PYTHON, PythonServer, runPython, SECRET } from './python.js';

const TOKEN = 'an-example-token-of-more-than-32-bytes';
const FOLDER = join(ROOT, 'examples/python');

describeWith(NEEDS_PYTHON, 'examples in Python', () => {
  for (const [title, module, path] of [
    ['agent.py', 'agent:app', ''],
    ['fastapi_agent.py', 'fastapi_agent:api', 'agent/'],
  ] as const)
    it(`${title} answers client.py by way of gateway.ts`, async () => {
      const server = await PythonServer.start(module, {}, FOLDER);
      const gateway = runProgram('examples/python/gateway.ts', {
        env: { PORT: '0', APP_URL: `${server.url}${path}`, APP_SECRET: SECRET, GATEWAY_TOKEN: TOKEN },
      });
      const [, url] = await gateway.prints(/Listening on (\S+)/);
      const env = { GATEWAY_URL: url!, GATEWAY_TOKEN: TOKEN };
      const client = runPython([join(FOLDER, 'client.py'), 'two people'], env);
      expect(await client.exited).to.equal(0);
      expect(client.output).to.equal('A table for two people. Reserved table 7 on Friday.\n[end]\n');
    });
});
