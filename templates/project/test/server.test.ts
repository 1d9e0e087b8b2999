import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient } from 'agent-session-gateway/client';
import { createServer, type Gateway } from '../server/server.js';

const server = createServer({ secret: 'a-secret-for-tests-of-at-least-32-bytes', proxies: 1 });
let listening: Awaited<ReturnType<typeof server.listen>>;

before(async () => {
  listening = await server.listen(0);
});
after(() => listening.close());

/** A client as the page has it, with the cookie of a visitor. */
async function visit(t: { after(close: () => void): void }) {
  const response = await fetch(`${listening.url}/visitor`, { method: 'POST' });
  const [cookie = ''] = response.headers.getSetCookie();
  const headers = { cookie: cookie.split(';')[0]! };
  const client = createClient<Gateway>({ baseUrl: `${listening.url}/agent`, headers });
  t.after(() => client.disconnect());
  return client;
}

test('answers piece by piece, and remembers', async (t) => {
  const client = await visit(t);
  let text = '';
  for await (const piece of client.send('main', 'good morning').text) text += piece;
  assert.equal(text, 'You said: good morning ');
  const { messages } = await client.session('main').history();
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant'],
  );
});

test('knows one visitor from another, and lets nobody else in', async (t) => {
  const [ann, bob] = [await visit(t), await visit(t)];
  await ann.send('main', 'a secret').result;
  assert.deepEqual(await ann.apps(), await bob.apps());
  assert.deepEqual((await bob.sessions()).sessions, []);
  const headers = { cookie: 'visitor=visitor-1.forged' };
  assert.equal((await fetch(`${listening.url}/agent/status`, { headers })).status, 401);
});

test('gives cookies for HTTPS alone where the proxy has that', async () => {
  const cookieBy = async (proto: string) => {
    const headers = { 'x-forwarded-proto': proto };
    const response = await fetch(`${listening.url}/visitor`, { method: 'POST', headers });
    return response.headers.get('set-cookie') ?? '';
  };
  assert.match(await cookieBy('https'), /; Secure$/);
  assert.doesNotMatch(await cookieBy('http'), /Secure/);
});
