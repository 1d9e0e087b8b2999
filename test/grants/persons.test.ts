import { expect } from 'chai';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import { OPERATIONS, type OperationName } from '../../shared/operations.js';
import { jsonHeaders, post } from '../support/gateway.js';
import { as } from '../support/users.js';
import { begin } from './cast.js';
import { paramsOf } from './matrix.js';

const SECRET = 'what-nobody-else-may-see';
/** The operations that are asked about a session over HTTP, by their words. A new one is among them by itself. */
const ASKED = (Object.keys(paramsOf('', '')) as OperationName[]).filter(
  (name) => name in OPERATION_WORDS && name !== 'subscribe' && name !== 'presence',
);
/** Reads and those that leave all as it is, which are asked before an end as well. */
const READS = ASKED.filter((name) => OPERATION_WORDS[name].rate === 'reads');

/** What is answered to somebody: the status, and all bytes. */
async function ask(url: string, name: OperationName, sessionId: string, token: string) {
  const params = paramsOf(sessionId, 'none')[name];
  const { http, path } = OPERATIONS[name];
  const query = new URLSearchParams(params as Record<string, string>);
  const response =
    http === 'GET'
      ? await fetch(`${url}${path}?${query}`, { headers: as(token) })
      : await fetch(`${url}${path}`, {
          method: 'POST',
          headers: { ...jsonHeaders(), ...as(token) },
          body: JSON.stringify(params),
        });
  return { status: response.status, text: await response.text() };
}

/** Ann's session with a secret, shared with Ben, and by a link under two names; Mal is nobody. */
async function share() {
  const it = await begin({
    shareLinks: { upTo: 'operator' },
    methods: { ping: async () => 'pong' },
    clientMessages: { import: true },
    limits: { sendsPerSecond: 10_000, readsPerSecond: 10_000 },
  });
  await it.send(SECRET);
  const ben = await it.shared({ with: { userId: 'ben' }, as: 'operator' });
  const link = await it.shared({ with: { link: true }, as: 'operator' });
  const persons = {
    member: { token: 'ben', sessionId: ben.sessionId, gone: [404] },
    'guest by one dot': { token: `${link.token}.one`, sessionId: link.sessionId, gone: [401, 404] },
    'guest by another': { token: `${link.token}.two`, sessionId: link.sessionId, gone: [401, 404] },
  };
  const strangers = [
    { token: 'mal', sessionId: ben.sessionId },
    { token: 'mal', sessionId: link.sessionId },
    { token: 'ben', sessionId: link.sessionId },
    { token: `${link.token}.one`, sessionId: ben.sessionId },
    { token: 'mal', sessionId: `default:~${'a'.repeat(22)}` },
  ];
  return { ...it, ben, link, persons, strangers };
}

/** The ways in which what was shared ends. */
const ENDS: Readonly<Record<string, (it: Awaited<ReturnType<typeof share>>) => Promise<unknown>>> = {
  'the grants': async ({ unshare, ben, link }) => [await unshare(ben.grantId), await unshare(link.grantId)],
  'the conversation': ({ url, ann }) => post(`${url}/close`, { sessionId: 'main' }, ann),
  'the session': ({ url, ann }) => post(`${url}/delete`, { sessionId: 'main' }, ann),
  'the conversation, and another begins': async ({ url, ann, send }) => [
    await post(`${url}/close`, { sessionId: 'main' }, ann),
    await send(SECRET),
  ],
  'all of the person': ({ gateway }) => gateway.erase({ user: { id: 'ann' } }, { vacuum: false }),
};

describe('persons, operations and ends', () => {
  it('strangers to a session are told alike that there is none, by every operation', async () => {
    const { url, strangers } = await share();
    for (const name of ASKED)
      for (const { token, sessionId } of strangers) {
        const { status, text } = await ask(url, name, sessionId, token);
        expect(status, `${name} by ${token}: ${text}`).to.equal(404);
        expect(text).to.not.include(SECRET);
      }
  });

  for (const [end, does] of Object.entries(ENDS))
    it(`nothing is answered to those whom a session was shared with behind the end of ${end}`, async () => {
      const it = await share();
      const { url, persons } = it;
      for (const name of READS)
        for (const [who, { token, sessionId }] of Object.entries(persons)) {
          const { status, text } = await ask(url, name, sessionId, token);
          expect(status, `${name} by ${who}: ${text}`).to.be.oneOf([200, 403, 404]);
          expect(text, `${name} by ${who}`).to.not.include('"main"');
        }
      await does(it);
      for (const name of ASKED)
        for (const [who, { token, sessionId, gone }] of Object.entries(persons)) {
          const { status, text } = await ask(url, name, sessionId, token);
          expect(gone, `${name} by ${who}: ${status} ${text}`).to.include(status);
          expect(text, `${name} by ${who}`).to.not.include(SECRET);
        }
    });
});
