import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Client, createClient } from '../../client/index.js';
import type { UsageRow } from '../../shared/budgets/contract.js';
import { isGatewayError } from '../../shared/errors.js';
import { describeKilled, GatewayProcess } from '../support/gateway-process.js';
import { CRASH_SEED } from '../support/kills.js';
import { randomOf } from '../support/random.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const USERS = ['ann', 'bob', 'eve', 'joe'];
const CALLS = 12;
const KILLS = 4;

/** Calls of models, as who makes the money of them counts: each by its id, with its tokens. */
class Provider {
  /** Calls by kind and id, with how often each was made. */
  readonly made = new Map<string, number>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  async start(): Promise<string> {
    const server = createServer(async (request, response) => {
      const path = request.url!.slice(1);
      await delay(this.#random() * 60);
      this.made.set(path, (this.made.get(path) ?? 0) + 1);
      response.end(String(tokensOf(path)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closeLater(server, (it) => it.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Tokens of all calls of a kind. @param times How often a call counts that was made so often */
  tokens(kind: string, user: string, times: (made: number) => number = () => 1): number {
    const own = [...this.made].filter(([path]) => path.startsWith(`${kind}/${user}/`));
    return own.reduce((sum, [path, made]) => sum + tokensOf(path) * times(made), 0);
  }
}

/** The same for one call, however often it is made and whatever is told of it. */
function tokensOf(path: string): number {
  let sum = 0;
  for (const letter of path.slice(path.indexOf('/'))) sum = (sum * 31 + letter.charCodeAt(0)) % 997;
  return sum + 1;
}

/** Kills gateways at random while runs make calls, and compares the ledger with what was called. */
async function counts(place: string, count: number): Promise<void> {
  const random = randomOf(CRASH_SEED);
  const provider = new Provider(random);
  const at = await provider.start();
  const gateways: GatewayProcess[] = [];
  while (gateways.length < count)
    gateways.push(await GatewayProcess.start('test/budgets/kills-program.ts', place, at));
  const clientOf = (user: string, gateway: number): Client =>
    closeLater(createClient({ baseUrl: gateways[gateway % count]!.url, token: user }), (it) =>
      it.disconnect(),
    );
  // Each message is sent twice, by different ways.
  const runs = USERS.flatMap((user, i) =>
    [0, 1].map((way) =>
      clientOf(user, i + way).send('main', String(CALLS), { idempotencyKey: `key-${user}` }),
    ),
  );
  const over = Promise.all(runs.map(({ result }) => result));
  let isOver = false;
  over.finally(() => {
    isOver = true;
  });
  for (let kill = 0; kill < KILLS && !isOver; kill += 1) {
    const { size } = provider.made;
    const more = random() * 16;
    await until(() => isOver || provider.made.size >= size + more);
    await gateways[Math.floor(random() * count)]!.restart();
  }
  const ends = await over;
  expect(ends.map(({ stopReason }) => stopReason)).to.deep.equal(ends.map(() => 'end'));
  expect(new Set(ends.map(({ runId }) => runId)).size, 'a message sent twice is one run').to.equal(
    USERS.length,
  );

  const host = clientOf('ann', 0);
  const usage = (query: object) => host.invoke('sums', query) as Promise<readonly UsageRow[]>;
  const logged = new Map<string, number>();
  let total = 0;
  for (const user of USERS) {
    let tokens = 0;
    for await (const event of clientOf(user, 0).events('main', { from: 'earliest' })) {
      if (event.type === 'usage_added') tokens += event.usage.inputTokens!;
      if (event.type === 'message_end') break;
    }
    logged.set(user, tokens);
    total += tokens;
  }
  const check = async (when: string) => {
    const rows = await usage({ by: ['person', 'model'] });
    const sumOf = (user: string, kind?: string) =>
      rows
        .filter(({ person, model }) => person === user && (kind ?? model) === model)
        .reduce((sum, row) => sum + row.inputTokens, 0);
    for (const user of USERS) {
      const what = `${user} ${when}, seed ${CRASH_SEED}`;
      // The run's own count: each call once that has an id, whatever broke off behind it.
      expect(sumOf(user, 'once'), what).to.equal(provider.tokens('once', user));
      expect(sumOf(user), what).to.equal(logged.get(user));
      // Those that are made again with their step: no less than was told, no more than was made.
      const told = provider.tokens('told', user, (made) => made);
      expect(sumOf(user, 'again'), what).to.be.within(
        told,
        provider.tokens('again', user, (made) => made),
      );
      const [own] = await usage({ sessionId: 'main', scope: JSON.stringify([null, user]) });
      expect(own!.inputTokens, what).to.equal(logged.get(user));
      expect(own!.cost, what).to.equal(logged.get(user)! / 1000);
    }
  };
  await check('at once');
  // The records of uses join the sums behind their time.
  await until(async () => {
    const { status } = await refused(host, total);
    return status === 402;
  });
  await delay(6000);
  await check('as sums');
  expect((await refused(host, total)).tokens, `the budget, seed ${CRASH_SEED}`).to.equal(total);
}

/** What a budget says that is used up by so many tokens. */
async function refused(client: Client, tokens: number): Promise<{ status: number; tokens?: number }> {
  await client.invoke('limit', { tokens });
  try {
    await client.send('other', '0').accepted;
    return { status: 200 };
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { status: error.status, tokens: (error.details as any).spent.tokens };
  }
}

describeKilled(
  'the ledger of gateways that are killed',
  'has what was called, once, by person, session and budget',
  counts,
  300_000,
);
