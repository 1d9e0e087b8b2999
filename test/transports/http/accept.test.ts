import { expect } from 'chai';
import { accepts, acceptsCoding, hasToken, prefers } from '../../../server/accept.js';
import { echo } from '../../support/apps.js';
import { jsonHeaders, startGateway } from '../../support/gateway.js';

const JSON_TYPE = 'application/json';
const EVENTS = 'text/event-stream';

/** A header, whether it accepts JSON and events, and whether it would rather have JSON. */
const HEADERS: readonly [accept: string | undefined, json: boolean, events: boolean, prefersJson: boolean][] =
  [
    [undefined, true, true, false],
    ['', true, true, false],
    [' , ', true, true, false],
    ['*/*', true, true, false],
    ['application/*, text/*', true, true, false],
    ['application/json, text/event-stream', true, true, false],
    ['Application/JSON , Text/Event-Stream', true, true, false],
    ['text/event-stream;q=0.2,application/json;Q=0.1', true, true, false],
    ['application/json;charset=utf-8;q=0.5, text/event-stream;q=0.4', true, true, true],
    ['application/json, text/plain, */*', true, true, true],
    ['application/json, */*;q=0.1', true, true, true],
    ['text/event-stream, */*;q=0.1', true, true, false],
    ['text/html,application/xhtml+xml,*/*;q=0.8', true, true, false],
    ['application/json', true, false, true],
    ['application/*', true, false, true],
    ['application/json, text/event-stream;q=0', true, false, true],
    ['*/*, text/event-stream;q=0.000', true, false, true],
    ['text/*;q=0, */*', true, false, true],
    ['text/event-stream', false, true, false],
    ['text/*;q=0.001', false, true, false],
    ['*/*;q=0, text/event-stream', false, true, false],
    ['image/png', false, false, false],
    ['application/jsonp, text/event-streams', false, false, false],
    ['application/x;a="application/json, text/event-stream"', false, false, false],
    ['application/json;q=nonsense', true, false, true],
    ['*/*;q=0', false, false, false],
  ];

describe('the header Accept', () => {
  for (const [accept, json, events, prefersJson] of HEADERS)
    it(`is read by its grammar: ${accept ?? '(none)'}`, () => {
      expect([accepts(accept, JSON_TYPE), accepts(accept, EVENTS)]).to.deep.equal([json, events]);
      expect(prefers(accept, JSON_TYPE, EVENTS)).to.equal(prefersJson);
    });

  it('takes time in proportion to its length', () => {
    const long = `${'"\\'.repeat(20_000)},${';q='.repeat(20_000)}, */*`;
    expect(accepts(long, JSON_TYPE)).to.be.a('boolean');
  });

  for (const [accept, type] of [
    ['APPLICATION/JSON', JSON_TYPE],
    ['application/*', JSON_TYPE],
    ['application/json, text/event-stream;q=0', JSON_TYPE],
    ['application/json;q=0.5, text/event-stream', EVENTS],
    ['*/*', EVENTS],
    ['application/json;q=0, */*', EVENTS],
  ] as const)
    it(`chooses the answer of a send: ${accept}`, async () => {
      const { url } = await startGateway({ app: echo });
      const response = await fetch(`${url}/send`, {
        method: 'POST',
        headers: { ...jsonHeaders(), accept },
        body: JSON.stringify({ sessionId: 'main', message: 'hello' }),
      });
      await response.text();
      expect(response.headers.get('content-type')).to.match(new RegExp(`^${type}`));
    });

  for (const [accept, method, status] of [
    ['Application/Json', 'watch', 400],
    ['application/*', 'watch', 400],
    ['*/*, text/event-stream;q=0', 'watch', 400],
    ['text/*', 'once', 400],
    ['text/event-stream, application/json;q=0', 'once', 400],
    ['*/*;q=0.1, text/event-stream', 'once', 200],
    ['image/png', 'watch', 200],
  ] as const)
    it(`says what kind of method is called: ${accept}`, async () => {
      const watch = async function* () {
        yield 1;
      };
      const { url } = await startGateway({ app: echo, methods: { watch, once: () => 1 } });
      const response = await fetch(`${url}/invoke`, {
        method: 'POST',
        headers: { ...jsonHeaders(), accept },
        body: JSON.stringify({ method }),
      });
      await response.text();
      expect(response.status).to.equal(status);
    });
});

describe('lists like it', () => {
  it('name codings, which may be refused', () => {
    for (const header of ['gzip', 'GZip, br', 'br;q=1.0, *;q=0.5', '*'])
      expect(acceptsCoding(header, 'gzip'), header).to.equal(true);
    for (const header of [undefined, '', 'br', 'gzip;q=0', 'gzip;q=0, *', 'x-gzip-like', '*;q=0'])
      expect(acceptsCoding(header, 'gzip'), header).to.equal(false);
  });

  it('name preferences', () => {
    for (const header of ['respond-async', 'wait=10, Respond-Async', 'respond-async; wait=5'])
      expect(hasToken(header, 'respond-async'), header).to.equal(true);
    for (const header of [undefined, '', 'respond-asynchronously', 'x="a, respond-async"'])
      expect(hasToken(header, 'respond-async'), header).to.equal(false);
  });
});
