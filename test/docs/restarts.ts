import { type Application, isGatewayError } from 'agent-session-gateway';
import type { ClientSession } from 'agent-session-gateway/client';
import { testGateway, textOf } from 'agent-session-gateway/testing';
import { expect } from 'chai';

/** Whom an app may ask. */
const PEOPLE = ['ann', 'bob'].map((id) => ({ id, roles: ['finance', 'staff'] }));

type Given = { readonly approved: true } | { readonly output: true };

/** Answers until the gateway has heard it, or that of another was enough. */
async function answer(person: ClientSession, callId: string, given: Given): Promise<void> {
  for (;;)
    try {
      await person.respond(callId, given);
      return;
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      // The run may have gone on, or ended, by the answer of another.
      if (['ALREADY_ANSWERED', 'CALL_NOT_FOUND'].includes(error.code)) return;
      if (!error.retryable) throw error;
    }
}

type Apps = Readonly<Record<string, Application>>;

/** What an app answers, and in how many events; its gateway is killed after the one of this number. */
async function answerOf(apps: Apps, app: string, killedAfter?: number): Promise<readonly [string, number]> {
  const kit = await testGateway({ apps, defaultApp: app, sessionScope: 'global' });
  const people = PEOPLE.map((user) => kit.client({ user }).session('main'));
  const answers: Promise<void>[] = [];
  const allAnswer = (callId: string, given: Given) =>
    answers.push(...people.map((person) => answer(person, callId, given)));
  try {
    const run = kit.client({ user: 'sue' }).send('main', 'Hello');
    let events = 0;
    for await (const event of run) {
      if (++events === killedAfter) await kit.kill();
      if (event.type === 'tool_confirmation_required') allAnswer(event.callId, { approved: true });
      if (event.type === 'input_required') allAnswer(event.callId, { output: true });
    }
    const { message, stopReason, error } = await run.result;
    expect(stopReason, error?.message).to.equal('end');
    await Promise.all(answers);
    return [textOf(message), events];
  } finally {
    await kit.close();
  }
}

/** Kills the gateway of each resumable app of a block after each of its events: the answer is that of a run that nobody disturbed. */
export async function tryRestarts(exports: Readonly<Record<string, any>>): Promise<void> {
  const found = Object.entries(exports).filter(
    ([, it]) => typeof it?.run === 'function' && 'resumable' in it,
  );
  const apps: Apps = Object.fromEntries(found);
  const resumable = found.filter(([, it]) => it.resumable).map(([name]) => name);
  expect(resumable, 'a resumable app that has a name').to.not.be.empty;
  for (const app of resumable) {
    const [said, events] = await answerOf(apps, app);
    for (let killedAfter = 1; killedAfter < events; killedAfter++)
      expect((await answerOf(apps, app, killedAfter))[0], `${app}, killed after ${killedAfter}`).to.equal(
        said,
      );
  }
}
