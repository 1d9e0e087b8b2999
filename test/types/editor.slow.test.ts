import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { definitions, hovers, type Place } from '../package/editor.js';
import { ROOT } from '../support/program.js';

const FILE = join(ROOT, 'test/types/fixtures/editor.ts');

/** The last place of a name in the fixture. */
function placeOf(name: string): Place {
  const before = readFileSync(FILE, 'utf8').split(name).slice(0, -1).join(name).split('\n');
  return { line: before.length, offset: before.at(-1)!.length + 1 };
}

describe('an editor', () => {
  it("leads from a member of client.api to the server's method", async () => {
    const found = await definitions(FILE, [placeOf('archive'), placeOf('ping')]);
    expect(found.map(({ file }) => basename(file))).to.deep.equal(['server.ts', 'server.ts']);
    expect(found[0]!.text).to.match(/^\s*archive: /);
    expect(found[1]!.text).to.match(/\bping\b/);
  });

  it('shows the name of an interface in place of all methods', async () => {
    const found = await hovers(FILE, [placeOf('client ='), placeOf('session ='), placeOf('run =')]);
    for (const text of found) expect(text.length, text).to.be.within(10, 200);
    expect(found[0]).to.contain('Client<Api>');
  });
});
