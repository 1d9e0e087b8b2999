import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../client/index.js';
import { sessionPresence } from '../client/people/index.js';
import { createGateway, defineApp } from '../server/index.js';

/** What ten members in each session cost its answers, gateway and clients in one process: `npx tsx bench/people.ts [sessions] [rounds]`. */
const SESSIONS = Number(process.argv[2] ?? 10);
const ROUNDS = Number(process.argv[3] ?? 5);
const MEMBERS = 10;
const PIECES = 50;
const PIECE_MS = 10;

const limits = {
  ...{ sendsPerSecond: 1e6, readsPerSecond: 1e6, subscribesPerSecond: 1e6, loopDelayMs: 1e9 },
  ...{ connectionsPerUser: 1e6, streamsPerUser: 1e6, connectionsPerAddress: 1e6, requestsPerAddress: 1e6 },
};
const app = defineApp({
  async *run() {
    for (let n = 0; n < PIECES; n++) {
      await delay(PIECE_MS);
      yield `${performance.now()} `;
    }
  },
});

const gateway = createGateway({ app, limits, auth: { type: 'none' }, port: 0 });
const { url } = await gateway.start();
const sender = createClient({ baseUrl: url! });
const ids = Array.from({ length: SESSIONS }, (_, i) => `s${i}`);

/** How late pieces are read, in milliseconds, and what CPU all takes. */
async function round() {
  const late: number[] = [];
  const before = process.cpuUsage();
  const read = async (id: string): Promise<void> => {
    for await (const text of sender.send(id, 'hi').text)
      for (const at of text.trim().split(' ')) late.push(performance.now() - Number(at));
  };
  await Promise.all(ids.map(read));
  const { user, system } = process.cpuUsage(before);
  late.sort((a, b) => a - b);
  return {
    p50: late[late.length >> 1]!,
    p99: late[Math.floor(late.length * 0.99)]!,
    cpu: (user + system) / late.length,
  };
}

async function withMembers<T>(isPresent: boolean, work: () => Promise<T>): Promise<T> {
  const members = ids.flatMap((id) =>
    Array.from({ length: MEMBERS }, (_, n) => {
      const client = createClient({ baseUrl: url! });
      const presence = sessionPresence(client, id);
      const stop = isPresent ? presence.subscribe(() => {}) : () => {};
      if (isPresent) presence.enter({ name: `member ${n}` });
      const events = client.events(id, { from: 'now', types: ['presence'] });
      void events.next().catch(() => {});
      return { client, presence, stop };
    }),
  );
  if (isPresent)
    while (members.some(({ presence }) => presence.getSnapshot().members.length < MEMBERS)) await delay(50);
  else while (members.some(({ client }) => client.connection.state !== 'open')) await delay(50);
  const typing = setInterval(() => {
    if (isPresent) for (const { presence } of members) presence.typing();
  }, 1000);
  const result = await work();
  clearInterval(typing);
  for (const { client, presence, stop } of members) {
    stop();
    presence.leave();
    client.disconnect();
  }
  return result;
}

const ways: Readonly<Record<string, typeof round>> = {
  alone: round,
  [`${MEMBERS} follow`]: () => withMembers(false, round),
  [`${MEMBERS} present`]: () => withMembers(true, round),
};
const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[all.length >> 1]!;
const found = Object.keys(ways).map((name) => ({ name, rounds: [] as Awaited<ReturnType<typeof round>>[] }));
await round();
for (let n = 0; n < ROUNDS; n++) for (const each of found) each.rounds.push(await ways[each.name]!());
for (const { name, rounds } of found) {
  const of = (key: 'p50' | 'p99' | 'cpu') => median(rounds.map((each) => each[key]));
  console.log(
    `${name}: p50 ${of('p50').toFixed(2)} ms, p99 ${of('p99').toFixed(2)} ms, ${of('cpu').toFixed(0)} us of CPU a piece (median of ${ROUNDS} rounds, ${SESSIONS} sessions)`,
  );
}
sender.disconnect();
await gateway.close();
process.exit(0);
