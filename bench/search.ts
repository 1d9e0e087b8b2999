import { readdirSync, readFileSync, statSync } from 'node:fs';
import pg from 'pg';
import { userScope } from '../server/auth/scope.js';
import { createGateway, defineApp, type Store } from '../server/index.js';
import { postgresStore } from '../server/stores/postgres/index.js';
import type { SaidText } from '../server/stores/said.js';
import { loadDriver } from '../server/stores/sqlite/driver.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';
import { withDeadlines } from '../server/stores/store-deadlines.js';
import { newDatabase } from '../test/support/durable.js';
import { newSchema, PostgresServer } from '../test/support/postgres-server.js';
import { record, TestWriter } from '../testing/stores/records.js';

// npx tsx bench/search.ts [messages] [runs]: how long a search takes among so many messages of one person, what the index takes of the disk, beside a
// plain LIKE; and what CPU a run costs with an index and without.

const MESSAGES = Number(process.argv[2] ?? 100_000);
const RUNS = Number(process.argv[3] ?? 2000);
const QUERIES = 100;
/** Runs of one side, before the other's turn. */
const BLOCK = 50;
/** Appends of a block. */
const APPENDS = 200;
const PER_SESSION = 100;
const USER = { id: 'ann' };
const limits = { sendsPerSecond: 1e6, readsPerSecond: 1e6, sessionsPerUser: 1e6, loopDelayMs: 1e9 };

let seed = 1;
const random = (): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
const LETTERS = 'etaoinshrdlucmfwypvbgkqjxz';
const letter = (): string => LETTERS[Math.floor(random() ** 2 * 26)]!;
const WORDS = Array.from({ length: 30_000 }, () =>
  Array.from({ length: 3 + Math.floor(random() * 7) }, letter).join(''),
);
/** A few words are everywhere and most are rare, as in a language. */
const word = (): string => WORDS[Math.floor(WORDS.length ** random()) - 1]!;
const text = (words: number): string => Array.from({ length: words }, word).join(' ');

const kinds: Readonly<Record<string, () => string>> = {
  'a common word': () => WORDS[Math.floor(random() * 20)]!,
  'a rare word': () => WORDS[1000 + Math.floor(random() * 29_000)]!,
  'two words': () => `${word()} ${word()}`,
  'three letters': () => WORDS[Math.floor(random() * 3000)]!.slice(0, 3),
};

const at = (values: readonly number[], share: number, digits = 1): string =>
  [...values]
    .sort((a, b) => a - b)
    [Math.min(values.length - 1, Math.floor(values.length * share))]!.toFixed(digits);

async function fill(store: Store): Promise<number> {
  await store.open();
  let chars = 0;
  for (let i = 0; i < MESSAGES / PER_SESSION; i++) {
    const writer = await TestWriter.acquire(store, { scope: userScope(USER), app: 'default', name: `s${i}` });
    for (let depth = 1; depth <= PER_SESSION; depth += 50) {
      const put = Array.from({ length: 50 }, (_, j): SaidText => {
        const said = text(random() < 0.5 ? 12 : 110);
        chars += said.length;
        const role = j % 2 ? 'assistant' : 'user';
        return {
          depth: depth + j,
          messageId: `m${depth + j}`,
          role,
          at: Date.now() - (MESSAGES - i) * 60_000,
          text: said,
        };
      });
      await writer.append([], { said: { put } });
    }
    await store.release(writer.log, writer.term);
  }
  return chars;
}

async function timed(queries: readonly string[], ask: (query: string) => unknown): Promise<string> {
  const times: number[] = [];
  const before = process.cpuUsage();
  for (const query of queries) {
    const from = performance.now();
    await ask(query);
    times.push(performance.now() - from);
  }
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / 1000 / queries.length;
  return `p50 ${at(times, 0.5)}, p99 ${at(times, 0.99)} ms, CPU ${cpu.toFixed(1)} ms`;
}

async function search(name: string, store: Store, like?: (query: string) => unknown): Promise<void> {
  const gateway = createGateway({
    app: defineApp({ run: () => '' }),
    store,
    limits,
    auth: { type: 'none' },
    embedded: true,
  });
  for (const [kind, make] of Object.entries(kinds)) {
    const queries = Array.from({ length: QUERIES }, make);
    const found = await timed(queries, (query) => gateway.execute('search', { query }, { user: USER }));
    const plain = like ? `; LIKE ${await timed(queries.slice(0, 10), like)}` : '';
    console.log(`${name}, ${kind}: ${found}${plain}`);
  }
  await gateway.close();
}

/** CPU of a process and its children, in microseconds, by ticks of a hundredth of a second. */
function cpuBelow(parent: number): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      if (Number(pid) === parent || Number(fields[1]) === parent)
        ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended.
    }
  }
  return ticks * 10_000;
}

/** What a run costs, and what of it search does: appends as a run's own, in turns with texts and without. */
async function cost(name: string, make: () => Store, serverCpu: () => number = () => 0): Promise<void> {
  const app = defineApp({
    async *run() {
      for (let i = 0; i < 50; i++) {
        yield `${text(2)} `;
        await new Promise(setImmediate);
      }
    },
  });
  const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
    const [before, server] = [process.cpuUsage(), serverCpu()];
    await work();
    const { user, system } = process.cpuUsage(before);
    return user + system + serverCpu() - server;
  };
  const { search: _, ...plain } = withDeadlines(make(), Number.POSITIVE_INFINITY);
  const gateway = createGateway({ app, store: plain, limits, auth: { type: 'none' }, embedded: true });
  const run = async (): Promise<void> => {
    const ids = Array.from({ length: 10 }, (_, i) => `s${i}`);
    await Promise.all(ids.map((id) => gateway.session(id, { user: USER }).send(text(12)).result));
  };
  for (let n = 0; n < 200; n += 10) await run();
  const runs: number[] = [];
  for (let n = 0; n < RUNS; n += BLOCK)
    runs.push(
      (await cpuOf(async () => {
        for (let i = 0; i < BLOCK; i += 10) await run();
      })) / BLOCK,
    );
  await gateway.close();

  const store = make();
  await store.open();
  const writers: TestWriter[] = [];
  for (let i = 0; i < 10; i++)
    writers.push(await TestWriter.acquire(store, { scope: userScope(USER), app: 'default', name: `w${i}` }));
  const event = record(1, 'message_end');
  const about = { messageCount: 2, pending: 0 };
  let depth = 0;
  const append = async (isSaid: boolean): Promise<void> => {
    depth += 1;
    const put = writers.map((_, i): SaidText => {
      const [role, words] = (depth + i) % 2 ? (['user', 12] as const) : (['assistant', 100] as const);
      return { depth, messageId: `m${depth}`, role, at: Date.now(), text: text(words), isNew: true };
    });
    await Promise.all(
      writers.map((writer, i) =>
        writer.append([{ ...event }], { about, ...(isSaid && { said: { put: [put[i]!] } }) }),
      ),
    );
  };
  const more: number[] = [];
  const block = (isSaid: boolean): Promise<number> =>
    cpuOf(async () => {
      for (let i = 0; i < APPENDS; i += 10) await append(isSaid);
    });
  await block(true);
  for (let n = 0; n < 40; n++) {
    const first = await block(n % 2 === 0);
    const second = await block(n % 2 === 1);
    more.push((n % 2 ? second - first : first - second) / APPENDS);
  }
  await store.close();
  const [a, b] = [Number(at(more, 0.5)), Number(at(runs, 0.5))];
  console.log(
    `${name}: search takes ${a.toFixed(0)} us of CPU of an append with a message (from ${at(more, 0.25)} to ${at(more, 0.75)}); ` +
      `a run of two messages, its answer in 50 pieces, takes ${b.toFixed(0)} us without: ${((200 * a) / b).toFixed(1)} % more`,
  );
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

async function sqlite(): Promise<void> {
  const path = newDatabase();
  const store = sqliteStore({ path });
  const chars = await fill(store);
  await store.close();
  console.log(
    `SQLite: ${MESSAGES} messages of ${(chars / MESSAGES).toFixed(0)} characters, file ${mib(statSync(path).size)}`,
  );
  const db = (await loadDriver())(path);
  const size = (sql: string): number => Number(Object.values(db.prepare(sql).get()!)[0]);
  const words =
    size('SELECT sum(length(block)) FROM said_words_data') +
    size('SELECT sum(length(sz)) FROM said_words_docsize');
  console.log(
    `SQLite: words ${mib(words)}, ${(words / MESSAGES).toFixed(0)} bytes a message, beside ${mib(chars)} of text`,
  );
  db.exec('PRAGMA locking_mode = NORMAL');
  const like = db.prepare('SELECT id FROM said WHERE text LIKE ? ORDER BY id DESC LIMIT 100');
  const plain = (query: string): unknown => like.all(`%${query}%`);
  for (const [kind, make] of Object.entries(kinds))
    console.log(`SQLite, LIKE, ${kind}: ${await timed(Array.from({ length: 10 }, make), plain)}`);
  db.close();
  await search('SQLite', sqliteStore({ path }));
  await cost('SQLite', () => sqliteStore({ path: newDatabase() }));
}

async function postgres(): Promise<void> {
  const server = await PostgresServer.start();
  const schema = newSchema();
  const make = (name: string): Store =>
    postgresStore({ url: server.url, schema: name, allowEphemeral: true });
  const store = make(schema);
  const chars = await fill(store);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`VACUUM ANALYZE ${schema}.said`);
  const { rows } = await client.query(
    `SELECT pg_relation_size('${schema}.said_words') AS words, pg_total_relation_size('${schema}.said') AS total, (SELECT sum(pg_column_size(words)) FROM ${schema}.said) AS vectors`,
  );
  const [{ words, total, vectors }] = rows as [Record<string, string>];
  console.log(
    `PostgreSQL: ${MESSAGES} messages, ${mib(chars)} of text; index ${mib(Number(words))}, ${(Number(words) / MESSAGES).toFixed(0)} bytes a message, vectors ${mib(Number(vectors))}, all ${mib(Number(total))}`,
  );
  await search('PostgreSQL', store, (query) =>
    client.query(`SELECT id FROM ${schema}.said WHERE text LIKE $1 ORDER BY id DESC LIMIT 100`, [
      `%${query}%`,
    ]),
  );
  const { rows: backends } = await client.query('SELECT pg_backend_pid() AS pid');
  const parent = Number(readFileSync(`/proc/${backends[0].pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]);
  await client.end();
  await cost(
    'PostgreSQL',
    () => make(newSchema()),
    () => cpuBelow(parent),
  );
  await server.stop();
}

const wanted = process.argv[4];
if (wanted === 'cost') await cost('SQLite', () => sqliteStore({ path: newDatabase() }));
else if (wanted !== 'postgres') await sqlite();
if (wanted !== 'sqlite' && wanted !== 'cost') await postgres();
process.exit(0);
