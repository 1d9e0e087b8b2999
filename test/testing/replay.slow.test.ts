import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createDemoApp } from '../../server/demo/demo-app.js';
import { type RecordedTurn, recordInto, recording } from '../../server/features/recording/index.js';
import { type Application, defineApp } from '../../server/index.js';
import { app as templateApp } from '../../templates/project/server/app.js';
import {
  eventsOf,
  pendingOf,
  replaySession,
  scriptedModel,
  type TestClient,
  testGateways,
} from '../../testing/index.js';
import { runCliIn } from '../cli/run-cli.js';
import { describeDaily } from '../support/daily.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';
import { modelApp } from './fixtures/model-app.js';

const start = testGateways(afterEach);

/** What is said in a session; `yes` and `no` answer what is asked. */
type Dialogue = readonly string[];

async function say(client: TestClient, sessionId: string, dialogue: Dialogue): Promise<void> {
  for (const [at, text] of dialogue.entries()) {
    if (text === 'yes' || text === 'no') continue;
    const run = client.send(sessionId, text);
    const answer = dialogue[at + 1];
    if (answer === 'yes') await client.session(sessionId).approve(await pendingOf(client, sessionId));
    if (answer === 'no')
      await client.session(sessionId).deny(await pendingOf(client, sessionId), 'I need it');
    await run.result;
  }
}

/** Records sessions of an app. @returns the record of each */
async function record(app: Application, dialogues: readonly Dialogue[]): Promise<RecordedTurn[][]> {
  const turns: RecordedTurn[] = [];
  const gateway = await start({ app: recording(app, { to: (turn) => turns.push(turn) }) });
  for (const [at, dialogue] of dialogues.entries()) await say(gateway.client(), `s${at}`, dialogue);
  return dialogues.map((_, at) => turns.filter(({ sessionId }) => sessionId === `s${at}`));
}

const DEMO: readonly Dialogue[] = [
  ['hello'],
  ['weather in Oslo'],
  ['weather in Rome', 'weather in Oslo'],
  ['delete a.txt', 'yes'],
  ['delete b.txt', 'no'],
  ['delete c.txt', 'no', 'delete c.txt', 'yes'],
  ['announce Lunch'],
  ['hello', 'weather in Lima', 'hello'],
];
const TEMPLATE: readonly Dialogue[] = [
  ['good morning'],
  ['roll 6'],
  ['roll 20', 'roll 20', 'roll 20'],
  ['roll 1'],
  ['delete report.txt', 'yes'],
  ['delete report.txt', 'no', 'thank you'],
  ['roll 8', 'delete dice.txt', 'yes'],
];
const MODEL: readonly Dialogue[] = [
  ['How is Oslo?'],
  ['And Rome?', 'And Lima?'],
  ['Hello'],
  ['Once more'],
  ['Bye', 'Bye'],
];

async function ofModel(): Promise<RecordedTurn[][]> {
  const answers = MODEL.flat().flatMap((text) => [
    [{ call: 'weather', input: { city: text } }],
    ['It is as ', 'it is.'],
  ]);
  const model = closeLater(await scriptedModel(answers), (it) => it.close());
  return record(modelApp(model.baseURL), MODEL);
}

const replayAll = async (records: readonly RecordedTurn[][], app: Application) =>
  Promise.all(records.map(async (turns) => (await replaySession({ record: turns, app })).divergence?.text));

describeDaily('recorded sessions', 3, () => {
  it('twenty of them replay as they were: the demo, the template, an app of a model', async () => {
    const demo = createDemoApp(0);
    const [ofDemo, ofTemplate, model] = [
      await record(demo, DEMO),
      await record(templateApp, TEMPLATE),
      await ofModel(),
    ];
    const all = [...ofDemo, ...ofTemplate, ...model];
    expect(all.length).to.equal(20);
    expect(all.flat().length).to.be.above(25);
    expect(await replayAll(ofDemo, demo)).to.deep.equal(DEMO.map(() => undefined));
    expect(await replayAll(ofTemplate, templateApp)).to.deep.equal(TEMPLATE.map(() => undefined));
    expect(await replayAll(model, modelApp())).to.deep.equal(MODEL.map(() => undefined));
  });

  it('say which step parts from them, where a prompt was changed', async () => {
    const records = await ofModel();
    const app = modelApp(undefined, 'You know nothing.');
    for (const turns of records) {
      const { divergence, turns: same } = await replaySession({ record: turns, app });
      expect(same).to.equal(0);
      expect(divergence).to.include({ turn: 1, call: 1, step: 'model /v1/chat/completions' });
      expect(divergence!.text).to.match(/You know the weather\..*\| .*You know nothing\./);
    }
  });

  it('say so of another tool, a call that is not made any more, other words, and a failure', async () => {
    const [turns] = (await record(createDemoApp(0), [['weather in Oslo']])) as [RecordedTurn[]];
    const app = (run: Application['run']) => defineApp({ tools: createDemoApp().tools!, run });
    const other = await replaySession({
      record: turns,
      app: app(async (turn) => void (await turn.callTool('weather', { city: 'Rome' }))),
    });
    expect(other.divergence).to.include({ step: 'tool weather', call: 1 });
    expect(other.divergence!.text).to.include('Oslo').and.include('Rome');
    const none = await replaySession({ record: turns, app: app(() => 'It rains.') });
    expect(none.divergence).to.include({ step: 'tool weather', now: 'the app did not ask for it' });
    const words = app(async (turn) => {
      await turn.callTool('weather', { city: 'Oslo' });
      return 'Other words';
    });
    expect((await replaySession({ record: turns, app: words })).divergence).to.include({ step: 'answer' });
    expect((await replaySession({ record: turns, app: words, answersMayDiffer: true })).divergence).to.equal(
      undefined,
    );
  });

  it('give steps their outcomes, and do nothing real', async () => {
    let done = 0;
    const app = defineApp({
      async *run(turn) {
        const order = await turn.step('order', () => ({ id: ++done, password: 'hush' }));
        const day = await turn.ask({ name: 'day' });
        yield `${JSON.stringify(order)} on ${day}`;
      },
    });
    const turns: RecordedTurn[] = [];
    const gateway = await start({
      app: recording(app, { to: (turn) => turns.push(turn), redact: (_key, value) => value }),
    });
    const client = gateway.client();
    const run = client.send('main', 'a book');
    await client.session('main').respond(await pendingOf(client, 'main', 'day'), { output: 'Monday' });
    await run.result;
    const { divergence } = await replaySession({ record: turns, app, redact: (_key, value) => value });
    expect(divergence?.text).to.equal(undefined);
    expect(done).to.equal(1);
  });

  it('are replayed from an export of events too, where tools and people are all that is asked', async () => {
    const app = createDemoApp(0);
    const gateway = await start({ app });
    const client = gateway.client();
    await say(client, 'main', ['hello', 'weather in Lima', 'delete a.txt', 'no', 'delete a.txt', 'yes']);
    const lines = (await eventsOf(client, 'main')).map((event) => JSON.stringify(event)).join('\n');
    expect(await replaySession({ record: lines, app })).to.deep.equal({ turns: 4, divergence: undefined });
    const changed = lines.replaceAll('Lima', 'Rome').replace('weather in Rome', 'weather in Lima');
    expect((await replaySession({ record: changed, app })).divergence).to.include({
      turn: 2,
      step: 'tool weather',
    });
  });

  it('have no secrets', async () => {
    const text = JSON.stringify(await ofModel());
    expect(text)
      .to.include('[left out]')
      .and.not.match(/sk-very-secret|another-secret/);
  });

  it('are replayed from the command line, with an exit code for CI', async () => {
    const folder = tempDir();
    const model = closeLater(
      await scriptedModel([[{ call: 'weather', input: { city: 'Oslo' } }], ['It rains.']]),
      (it) => it.close(),
    );
    const gateway = await start({ app: recording(modelApp(model.baseURL), { to: recordInto(folder) }) });
    await gateway.client().send('main', 'How is Oslo?').result;
    const file = join(folder, 'main.ndjson');
    expect(readFileSync(file, 'utf8').trim().split('\n')).to.have.length(1);
    const args = ['replay', file, '--app', 'test/testing/fixtures/model-app.ts'];
    const same = runCliIn(ROOT, args);
    expect(await same.exited, same.output).to.equal(0);
    expect(same.output).to.match(/^same .*main\.ndjson: 1 turns/m);
    const changed = runCliIn(ROOT, args, { PROMPT: 'You know nothing.' });
    expect(await changed.exited, changed.output).to.equal(1);
    expect(changed.output).to.match(/^different .*turn 1, model \/v1\/chat\/completions \(call 1\)/m);
  });
});
