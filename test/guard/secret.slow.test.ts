import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { buildProgram } from '../support/built-program.js';
import { get, jsonHeaders, post } from '../support/gateway.js';
import { describeKilled, runListening } from '../support/gateway-process.js';
import { CRASH_SEED, KILLS } from '../support/kills.js';
import { randomOf } from '../support/random.js';
import { rawCommand } from '../support/raw-redis.js';
import { tempDir } from '../support/temp-dir.js';
import { REDACTED, SECRET, SHOWN } from './secret.js';

const SESSIONS = ['a', 'b', 'c'];

/** Every door with a stream of its own, by its name: a request for a new answer. */
const DOORS: Readonly<Record<string, () => readonly [path: string, body: object]>> = {
  'chat completions': () => [
    '/v1/chat/completions',
    { model: 'default', stream: true, messages: [{ role: 'user', content: 'go' }] },
  ],
  Responses: () => ['/v1/responses', { model: 'default', stream: true, input: 'go' }],
  'UI message stream': () => [
    '/api/chat',
    {
      id: `ui-${randomUUID()}`,
      messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    },
  ],
  'AG-UI': () => [
    '/ag-ui/agent/default/run',
    {
      ...{ threadId: randomUUID(), runId: randomUUID(), state: {}, tools: [], context: [] },
      messages: [{ id: randomUUID(), role: 'user', content: 'go' }],
      forwardedProps: {},
    },
  ],
  LangGraph: () => [
    `/langgraph/threads/${randomUUID()}/runs/stream`,
    {
      ...{ assistant_id: 'default', if_not_exists: 'create', stream_mode: ['messages', 'values', 'updates'] },
      input: { messages: [{ role: 'user', content: 'go' }] },
    },
  ],
  'own stream': () => ['/send', { sessionId: `own-${randomUUID()}`, message: 'go' }],
};

/** All that a door says, as far as it gets. */
async function said(url: string, [path, body]: readonly [string, object]): Promise<string> {
  let text = '';
  try {
    const headers = { ...jsonHeaders(), accept: 'text/event-stream' };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return text;
}

function filesIn(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .flatMap((path) => {
      try {
        return statSync(path).isFile() ? [readFileSync(path)] : [];
      } catch {
        // The server has just removed it.
        return [];
      }
    });
}

/** All bytes of a store, with its logs. */
async function bytesOf(place: string): Promise<readonly Buffer[]> {
  if (place.startsWith('redis')) return filesIn(await rawCommand(place, 'CONFIG', 'GET', 'dir'));
  if (!place.startsWith('postgres')) return filesIn(dirname(place));
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  try {
    await client.query('CHECKPOINT');
    const [{ data_directory: folder }] = (await client.query('SHOW data_directory')).rows;
    return filesIn(folder);
  } finally {
    await client.end();
  }
}

const has = (bytes: readonly Buffer[], text: string): boolean => bytes.some((each) => each.includes(text));

/** Waits until nobody answers in a session. */
async function idle(url: string, sessionId: string): Promise<void> {
  for (;;) {
    const { status, body } = await get(`${url}/status?sessionId=${sessionId}`);
    if (status === 404 || (body.status === 'idle' && body.queued === 0)) return;
    await delay(20);
  }
}

async function survive(place: string): Promise<void> {
  const file = await buildProgram('test/guard/secret-program.ts');
  const random = randomOf(CRASH_SEED);
  const recordings = tempDir();
  let heard = '';
  const told = (text: string): void => {
    heard += text;
  };
  for (let round = 0; round < KILLS; round++) {
    const { program, url } = await runListening(file, place, recordings);
    const talking = [
      ...SESSIONS.map((sessionId) => said(url, ['/send', { sessionId, message: `go, it is ${SECRET}` }])),
      ...Object.values(DOORS).map((door) => said(url, door())),
    ];
    await delay(20 + random() * 400);
    await program.kill('SIGKILL');
    for (const text of await Promise.all(talking)) told(text);
    told(program.output);
  }
  const { program, url } = await runListening(file, place, recordings);
  for (const [name, door] of Object.entries(DOORS)) {
    const text = await said(url, door());
    // Pieces may divide the mark itself.
    expect(text.replaceAll(/[^\w[\]]/g, ''), `${name}: ${text.slice(0, 500)}`).to.match(/key/);
    told(text);
  }
  for (const sessionId of SESSIONS) {
    told(await said(url, ['/send', { sessionId, message: `go, it is ${SECRET}` }]));
    await idle(url, sessionId);
    const { body } = await get(`${url}/history?sessionId=${sessionId}&limit=50`);
    for (const { role, stopReason, content } of body.messages) {
      const text = content.filter((block: any) => block.type === 'text').map((block: any) => block.text);
      if (role === 'user') expect(text.join('')).to.equal(`go, it is ${REDACTED}`);
      else expect([stopReason, text.join('')]).to.deep.equal(['end', SHOWN]);
    }
    told(JSON.stringify(body));
    for (const what of ['messages', 'events'])
      told(
        await (
          await fetch(`${url}/export?sessionId=${sessionId}&what=${what}`, { headers: jsonHeaders() })
        ).text(),
      );
  }
  told(JSON.stringify((await post(`${url}/sessions`, {})).body));
  await program.kill('SIGKILL');
  told(program.output);
  for (const bytes of filesIn(recordings)) told(bytes.toString());
  const hint = `CRASH_SEED=${CRASH_SEED}`;
  expect(heard, hint).to.include(REDACTED);
  expect(heard.includes(SECRET), hint).to.equal(false);
  const bytes = await bytesOf(place);
  expect(has(bytes, REDACTED), hint).to.equal(true);
  expect(has(bytes, SECRET), hint).to.equal(false);
}

describeKilled('a guard', 'lets no byte of a secret through, wherever it is killed', survive, 300_000);
