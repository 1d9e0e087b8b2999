import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { actor } from '../plugins/actor.js';
import { developedWith } from '../support/developed-with.js';
import { startGateway } from '../support/gateway.js';
import { readPage } from '../support/pages.js';
import { ROOT } from '../support/program.js';

const PAGE = readPage('docs/protocols.md');

/** The rows of the tables of features. */
const ROWS = [...PAGE.matchAll(/^\| (.+) \| ((?:yes|no)[^|]*) \| (.+) \|$/gm)].map(
  ([, feature, served, why]) => ({ feature: feature!, served: served!, why: why! }),
);

describe('what the documentation says of protocols', () => {
  it('names a test for all that is served, and a reason for the rest', () => {
    expect(ROWS.length).to.be.above(50);
    for (const { feature, served, why } of ROWS) {
      const tests = [...why.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path!);
      expect(tests.length > 0, feature).to.equal(served.startsWith('yes'));
      for (const path of tests) expect(existsSync(join(ROOT, path)), path).to.equal(true);
    }
  });

  it('names in a served row what its tests use, and in another what no plugin says', () => {
    const sources = ['server/plugins', 'shared'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
    );
    const said = sources.join('\n');
    for (const { feature, served, why } of ROWS) {
      const words = [...feature.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
      if (served.startsWith('yes')) {
        const tests = [...why.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path!);
        const text = tests.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
        for (const word of words) expect(text.toLowerCase(), word).to.contain(word.toLowerCase());
      } else {
        // Names of events and parts alone: other words mean more than one thing.
        const events = words.filter((word) => /^([A-Z]+(_[A-Z]+)+|[a-z]+(-[a-z]+)+)$/.test(word));
        for (const event of events) expect(said, event).to.not.contain(`'${event}'`);
      }
    }
  });

  it('names the versions of clients that tests run', () => {
    const versions = new Map<string, string[]>();
    for (const [name, wanted] of Object.entries(developedWith())) {
      const [, real = name, version = wanted] = /^npm:(.+)@(.+)$/.exec(wanted) ?? [];
      versions.set(real, [...new Set([...(versions.get(real) ?? []), version])]);
    }
    const named = [...PAGE.matchAll(/`(@?[\w/-]+)` (\d+\.\d+\.\d+(?:, \d+\.\d+\.\d+)*)/g)];
    expect(named).to.have.length(21);
    for (const [, name, listed] of named)
      expect(listed!.split(', '), name).to.have.members(versions.get(name!) ?? []);
  });

  it('calls routes not served that are not', async () => {
    const { gateway, url } = await startGateway({ app: actor().app });
    gateway.use(chatCompletionsPlugin());
    gateway.use(responsesPlugin());
    const routes = ROWS.filter(({ served }) => served === 'no').flatMap(({ feature }) => [
      ...feature.matchAll(/`(GET|POST|DELETE) (\/[\w/]+)`/g),
    ]);
    expect(routes).to.have.length(8);
    for (const [, method, path] of routes) {
      const response = await fetch(`${url}${path}`, { method: method! });
      expect(response.status, `${method} ${path}`).to.be.oneOf([404, 405]);
      await response.body?.cancel();
    }
  });
});
