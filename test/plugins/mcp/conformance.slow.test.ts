import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, runCommand } from '../../support/program.js';
import { tempDir } from '../../support/temp-dir.js';
import { conformanceApp } from './conformance-app.js';
import { startMcp } from './mcp-clients.js';

/** Scenarios of the suite that a server with tools alone can pass; prompts, resources and sampling are others'. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'server-sse-multiple-streams',
  'json-schema-2020-12',
  'dns-rebinding-protection',
];

/** What the suite found, by scenario. */
function resultsIn(
  folder: string,
): Map<string, { readonly status: string; readonly errorMessage?: string }[]> {
  return new Map(
    readdirSync(folder).map((name) => [
      /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)![1]!,
      JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')),
    ]),
  );
}

describe('the MCP conformance suite', () => {
  it('passes in all that concerns tools, sessions, streams and DNS rebinding', async function () {
    this.timeout(600_000);
    // The suite sends no credentials, so its server has to take anyone.
    const { url } = await startMcp({ app: conformanceApp, auth: { type: 'none' } });
    const folder = tempDir();
    const suite = 'test/node_modules/@modelcontextprotocol/conformance/dist/index.js';
    const program = runCommand(process.execPath, {
      args: ['scripts/on-node.mjs', '22', suite, 'server', '--url', url, '--suite', 'all', '-o', folder],
      cwd: ROOT,
    });
    // Its exit code counts the scenarios of prompts and resources too.
    await program.exited;
    const results = resultsIn(folder);
    for (const scenario of SCENARIOS) {
      const checks = results.get(scenario) ?? [];
      expect(checks.length, `${scenario}\n${program.output.slice(-500)}`).to.be.above(0);
      const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
      expect(failed, scenario).to.deep.equal([]);
    }
  });
});
