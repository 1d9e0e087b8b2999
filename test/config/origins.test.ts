import { expect } from 'chai';
import { readOrigin } from '../../server/config/origins.js';

describe('an origin that a person wrote', () => {
  // URL.canParse of Node 20 takes Latin-1 letters for broken ones once it was called so often that it is compiled.
  it('is read the same however often it was', () => {
    const read = new Set<string | undefined>();
    for (let times = 0; times < 50_000; times += 1) read.add(readOrigin('https://bücher.example').origin);
    expect([...read]).to.deep.equal(['https://xn--bcher-kva.example']);
  });
});
