// Calls a method at a rate, whatever becomes of the calls, and says how late the answers of those came that were accepted.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Opened before: Node takes one new connection in a turn of the loop, and new ones would wait for that and not for their answers. */
const CONNECTIONS = 400;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS });
const headers = { 'content-type': 'application/json' };

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

function ask(url: string, path: string, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { agent, method, headers }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve({ status: response.statusCode!, retryAfter: response.headers['retry-after'], body: text });
    });
    asked.on('error', reject).end(body);
  });
}

const [url = '', perSecond = '', seconds = ''] = process.argv.slice(2);
const late: number[] = [];
const odd: string[] = [];
let refused = 0;

async function call(dueAt: number): Promise<void> {
  const { status, retryAfter, body } = await ask(url, '/invoke', 'POST', '{"method":"work"}');
  if (status === 200) late.push(performance.now() - dueAt);
  else if (status === 503 && retryAfter !== undefined && body.includes('"OVERLOADED"')) refused += 1;
  else odd.push(`${status} ${body}`);
}

await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(url, '/healthz')));
const calls: Promise<void>[] = [];
const began = performance.now();
for (let at = 0; at < Number(perSecond) * Number(seconds); at++) {
  const dueAt = began + (at * 1000) / Number(perSecond);
  await sleep(Math.max(0, dueAt - performance.now()));
  calls.push(call(dueAt).catch((error) => void odd.push(String(error))));
}
const endedAt = performance.now();
while ((await ask(url, '/readyz')).status !== 200) await sleep(50);
const backMs = performance.now() - endedAt;
await Promise.all(calls);
late.sort((a, b) => a - b);
const p99 = late[Math.floor(late.length * 0.99)];
console.log(`outcome ${JSON.stringify({ accepted: late.length, refused, odd, p99, backMs })}`);
process.exit();
