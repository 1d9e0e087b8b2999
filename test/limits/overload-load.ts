// Sends messages at a rate, whatever becomes of them, and says how late the pieces of those that were accepted came.
import { once } from 'node:events';
import { get, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from './overload.js';

/** Resolves with the latenesses of an answer's pieces; `refused`, or why it is broken. */
async function send(url: string, key: string): Promise<number[] | string> {
  const body = JSON.stringify({ sessionId: key, message: 'Go' });
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const asked = request(`${url}/send`, { method: 'POST', headers }).end(body);
  const [response] = await once(asked, 'response');
  response.setEncoding('utf8');
  let rest = '';
  let ended = false;
  const late: number[] = [];
  for await (const text of response) {
    const now = Date.now();
    rest += text;
    const lines = rest.split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith('data:') && line.includes('"delta":'))
        for (const [due] of line.matchAll(/\b\d{13}(?= )/g)) late.push(now - Number(due));
      ended ||= line.includes('"stopReason":"end"');
    }
  }
  if (response.statusCode === 200) return ended ? late : `broken: ${rest}`;
  const isTold = response.headers['retry-after'] !== undefined && rest.includes('"OVERLOADED"');
  return response.statusCode === 503 && isTold ? 'refused' : `odd: ${response.statusCode} ${rest}`;
}

async function status(url: string): Promise<number> {
  const [response] = await once(get(`${url}/readyz`), 'response');
  response.resume();
  return response.statusCode;
}

async function drive(url: string, { perSecond, seconds }: { perSecond: number; seconds: number }) {
  const sent: Promise<number[] | string>[] = [];
  const began = performance.now();
  for (let at = 0; at < perSecond * seconds; at++) {
    await sleep(Math.max(0, began + (at * 1000) / perSecond - performance.now()));
    sent.push(send(url, `s${at}`).catch((error) => `broken: ${error}`));
  }
  const last = performance.now();
  let backMs = 0;
  while ((await status(url)) !== 200) {
    backMs = performance.now() - last;
    await sleep(50);
  }
  const all = await Promise.all(sent);
  const accepted = all.filter((one) => typeof one !== 'string');
  const told = all.filter((one) => typeof one === 'string');
  const late = accepted.flat().sort((a, b) => a - b);
  const outcome: Outcome = {
    accepted: accepted.length,
    refused: told.filter((one) => one === 'refused').length,
    odd: told.filter((one) => one.startsWith('odd')),
    broken: told.filter((one) => one.startsWith('broken')).length,
    p99: late[Math.floor(late.length * 0.99)] ?? 0,
    backMs,
  };
  console.log(`outcome ${JSON.stringify(outcome)}`);
}

const [url, perSecond, seconds] = process.argv.slice(2);
await drive(url!, { perSecond: Number(perSecond), seconds: Number(seconds) });
