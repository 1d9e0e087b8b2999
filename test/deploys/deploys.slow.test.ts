import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Client } from '../../client/index.js';
import { createGateway } from '../../server/index.js';
import { isGatewayError } from '../../shared/errors.js';
import { textOf } from '../../shared/messages.js';
import { buildProgram } from '../support/built-program.js';
import { connectClient } from '../support/client.js';
import { crashed } from '../support/durable.js';
import { post } from '../support/gateway.js';
import { describeKilled, runListening } from '../support/gateway-process.js';
import { closeLater } from '../support/resources.js';
import { storeAt } from '../support/store-at.js';
import { tempDir } from '../support/temp-dir.js';
import { until } from '../support/until.js';
import { deployedApp, isChanged } from './deployed-app.js';

/** Runs that wait for a person, and runs that are at work: all of them with `DEPLOY_SHARE=1`, as once a week. */
const SHARE = Number(process.env.DEPLOY_SHARE ?? 0.1);
const [PARKED, RUNNING] = [Math.ceil(1000 * SHARE), Math.ceil(200 * SHARE)];
const TEXTS = [
  ...Array.from({ length: PARKED }, (_, n) => `park ${n}`),
  ...Array.from({ length: RUNNING }, (_, n) => `run ${n}`),
];
const AT_ONCE = 16;

/** The session of a message. */
const keyOf = (text: string): string => text.replace(' ', '-');

async function forAll(texts: readonly string[], work: (text: string) => Promise<unknown>): Promise<void> {
  const left = texts.values();
  const lane = async (): Promise<void> => {
    for (const text of left) await work(text);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Gateways of versions of an app, each of which is killed to be replaced. */
class Fleet {
  readonly #file: string;
  readonly #args: readonly [place: string, folder: string];
  #running: { readonly url: string; readonly client: Client; kill(): Promise<unknown> }[] = [];

  constructor(file: string, ...args: readonly [place: string, folder: string]) {
    this.#file = file;
    this.#args = args;
  }

  get url(): string {
    return this.#running[0]!.url;
  }

  get client(): Client {
    return this.#running[0]!.client;
  }

  /** Replaces one gateway after the other, or starts them. */
  async deploy(version: string, count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      if (this.#running.length === count) await this.#running.shift()!.kill();
      const { program, url } = await runListening(this.#file, ...this.#args, version);
      closeLater(program, (it) => it.kill('SIGKILL'));
      this.#running.push({ url, client: connectClient(url), kill: () => program.kill('SIGKILL') });
    }
  }
}

const OUTCOMES = ['RUN_HELD', 'ALREADY_ANSWERED', 'CALL_NOT_FOUND'];

/** What becomes of an answer, asked again for as long as a gateway is busy or ends. @param outcomes The refusals that are not asked again */
async function answered(client: Client, text: string, outcomes = OUTCOMES): Promise<string> {
  const session = client.session(keyOf(text));
  for (;;) {
    try {
      const { pending } = await session.state();
      if (pending.length === 0) return 'none';
      await session.respond(pending[0]!.callId, { output: 'yes' });
      return 'taken';
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      if (outcomes.includes(error.code)) return error.code;
      if (!error.retryable) throw error;
    }
  }
}

async function survive(place: string, count: number): Promise<void> {
  const folder = join(tempDir(), 'notes');
  mkdirSync(folder);
  const isShared = count > 1;
  const fleet = new Fleet(await buildProgram('test/deploys/deploy-program.ts'), place, folder);
  /** A gateway of no app of ours, which looks at what there is. */
  const looking = () =>
    closeLater(
      createGateway({
        ...{ apps: { none: { run: () => {} } }, defaultApp: 'none', port: 0 },
        store: storeAt(isShared ? place : crashed(place)),
      }),
      (it) => it.close(),
    );
  const stateOf = (text: string) => fleet.client.session(keyOf(text)).state();
  const isAt = async (text: string, holds: (state: Awaited<ReturnType<typeof stateOf>>) => boolean) =>
    until(() => stateOf(text).then(holds, () => false));

  await fleet.deploy('1', count);
  await forAll(TEXTS, (text) =>
    post(`${fleet.url}/send`, { sessionId: keyOf(text), message: text }, { prefer: 'respond-async' }),
  );
  await forAll(TEXTS, (text) =>
    isAt(
      text,
      ({ run, pending }) =>
        run !== null && (text.startsWith('park') ? pending.length > 0 : run.message.content.length > 0),
    ),
  );

  // To a version that goes on with all.
  await fleet.deploy('2', count);
  await forAll(
    TEXTS.filter((text) => text.startsWith('run')),
    (text) => isAt(text, ({ run }) => run?.version === '2'),
  );

  // What is foreseen of a version that does not.
  const next = createGateway({
    app: deployedApp('3', {
      did: () => false,
      effect: (key) => expect.fail(`${key} was done`),
      isReleased: () => false,
    }),
  });
  const foreseen: string[] = [];
  let checked = 0;
  for await (const run of looking().deploys.unfinished(['default'])) {
    checked += 1;
    if ((await next.deploys.check(run)).outcome === 'held') foreseen.push(textOf(run.request.message));
  }
  expect(checked).to.equal(TEXTS.length);
  const changed = TEXTS.filter(isChanged);
  expect(foreseen.sort()).to.deep.equal([...changed].sort());

  await fleet.deploy('3', count);
  const fates = new Map<string, string>();
  await forAll(
    TEXTS.filter((text) => text.startsWith('park')),
    async (text) => {
      fates.set(text, await answered(fleet.client, text));
    },
  );
  expect(
    [...fates]
      .filter(([, fate]) => fate === 'RUN_HELD')
      .map(([text]) => text)
      .sort(),
  ).to.deep.equal(changed.filter((text) => text.startsWith('park')).sort());
  await forAll(
    TEXTS.filter((text) => text.startsWith('run')),
    (text) => isAt(text, ({ run }) => (isChanged(text) ? run?.held != null : run?.version === '3')),
  );
  const held: string[] = [];
  for await (const { sessionId } of looking().deploys.held(['default']))
    held.push(sessionId.replace(/^default:/, ''));
  expect(held.sort()).to.deep.equal(changed.map(keyOf).sort());

  // Back to the one before.
  await fleet.deploy('2', count);
  writeFileSync(join(folder, 'released'), '');
  // A gateway that was killed may hold a run back until its lease is over.
  await forAll(changed, (text) => answered(fleet.client, text, OUTCOMES.slice(1)));
  await forAll(TEXTS, (text) => isAt(text, ({ run }) => run === null));
  await forAll(TEXTS, async (text) => {
    const { messages } = await stateOf(text);
    const answer = messages.at(-1)!;
    const heard = text.startsWith('park') ? 'Heard yes. ' : '';
    expect([answer.stopReason, textOf(answer)]).to.deep.equal(['end', `Taking ${text}. ${heard}Done.`]);
    expect(JSON.stringify(messages)).not.to.include('STEP_MISMATCH');
  });
  for await (const { runId } of looking().deploys.held(['default'])) expect.fail(`${runId} is held still`);
  const effects = readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n');
  expect(effects.length, 'none twice, none lost').to.equal(2 * TEXTS.length);
  expect(new Set(effects).size).to.equal(effects.length);
}

describeKilled(
  'deploys of an app whose gateways are killed',
  `lose none of ${PARKED} runs that wait and ${RUNNING} that work, do nothing twice, and hold exactly those that were foreseen`,
  survive,
  1_200_000,
);
