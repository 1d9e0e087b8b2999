import { expect } from 'chai';
import { textOf } from '../../../shared/messages.js';
import { BackgroundEndpoint } from '../../support/background-endpoint.js';
import { connectClient } from '../../support/client.js';
import { describeKilled, GatewayProcess } from '../../support/gateway-process.js';

const PIECES = ['Once ', 'upon ', 'a time, ', 'in the ', 'log.'];
const TEXT = PIECES.join('');
/** The pieces behind which it is killed. */
const CUTS = [0, 2, 4];

/** Kills the gateway behind pieces of an answer, and a second time while it reads the answer again; `count` of them share the store. */
async function goesOn(place: string, count: number): Promise<void> {
  const endpoint = await BackgroundEndpoint.start();
  const gateways: GatewayProcess[] = [];
  const program = 'test/app-adapters/openai/background-program.ts';
  while (gateways.length < count) gateways.push(await GatewayProcess.start(program, place, endpoint.url));
  for (const [nth, cut] of CUTS.entries()) {
    // It holds the session, since it is asked first.
    const [holder] = gateways;
    const client = connectClient(holder!.url);
    const session = client.session(`s${cut}`);
    const run = session.send('Tell');
    const { runId } = await run.accepted;
    run.result.catch(() => {});
    const answer = await endpoint.next(nth + 1);
    const events = client.events(`s${cut}`, { from: 'earliest' });
    let seen = '';
    const said = async (upTo: string): Promise<void> => {
      while (!seen.startsWith(upTo)) {
        const { value } = await events.next();
        if (value?.type === 'content_delta') seen += value.delta;
      }
    };
    for (const piece of PIECES.slice(0, cut + 1)) answer.text(piece);
    await said(PIECES.slice(0, cut + 1).join(''));
    await holder!.restart();
    await endpoint.until(() => endpoint.retrieved.some(([id]) => id === answer.id));
    await holder!.restart();
    for (const piece of PIECES.slice(cut + 1)) answer.text(piece);
    answer.finish();
    const { message, stopReason, usage } = await session.run(runId).result;
    expect([textOf(message), stopReason], `killed behind piece ${cut + 1}`).to.deep.equal([TEXT, 'end']);
    expect(usage).to.include({ inputTokens: 7, outputTokens: TEXT.length });
    // A reader that stayed has each piece once.
    await said(TEXT);
    expect(seen).to.equal(TEXT);
    expect(answer.isCancelled).to.equal(false);
  }
  expect(endpoint.answers).to.have.length(CUTS.length);
  for (const [, after] of endpoint.retrieved) expect(after).to.equal(0);
}

describeKilled(
  'answers in the background of gateways that are killed',
  'are read on: their text is exact, and the model is asked once',
  goesOn,
  120_000,
);
