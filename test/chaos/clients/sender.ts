import { RawReader } from '../../support/sse-client.js';
import type { Sent, ToldEnd } from '../history.js';
import { saidOf, textFor } from '../script.js';
import { attempt, jsonOf, oneOf, passes, pause, type Setting } from './setting.js';

/** How a sender asks to be answered: the result, the run's events, or only that it was accepted. */
const FORMS = ['json', 'events', 'async'] as const;
type Form = (typeof FORMS)[number];

/** How many of the attempts to send are made twice at the same moment. */
const AT_ONCE = 0.2;

const HEADERS: Readonly<Record<Form, Readonly<Record<string, string>>>> = {
  json: {},
  events: { accept: 'text/event-stream' },
  async: { prefer: 'respond-async' },
};

export interface SenderOptions {
  readonly client: string;
  readonly sessionId: string;
  /** What the next message asks the app to do. */
  readonly what: () => string;
  /** How many of a hundred messages interrupt, and how many runs the sender ends itself. */
  readonly interrupts?: number;
  readonly aborts?: number;
}

/**
 * Sends one message after the other, each once the one before it was accepted, until told to stop. Each is sent again under its key, to
 * any gateway, until its end is known. Resolves when all of them have been told.
 */
export async function send(setting: Setting, options: SenderOptions, stop: AbortSignal): Promise<void> {
  const ends: Promise<void>[] = [];
  for (let number = 1; !stop.aborted; number++) {
    const { client, sessionId, what, interrupts = 0, aborts = 0 } = options;
    const sent: Sent = {
      client,
      number,
      sessionId,
      key: `${client}-${number}`,
      text: textFor(client, number, what()),
      onBusy: setting.random() * 100 < interrupts ? 'interrupt' : 'queue',
      acknowledged: [],
      ends: [],
    };
    setting.sent.push(sent);
    const accepted = await accept(setting, sent);
    if (accepted === undefined) continue;
    if (setting.random() * 100 < aborts) ends.push(abort(setting, sessionId, accepted));
    ends.push(learnEnd(setting, sent));
    await pause(setting, 250);
  }
  await Promise.all(ends);
}

/** Sends until it is known what it was accepted as. Undefined: it never will be. */
async function accept(setting: Setting, sent: Sent): Promise<string | undefined> {
  while (!setting.over.aborted) {
    // Now and then it is sent again while it is still under way, most likely to another gateway.
    const attempts = setting.random() < AT_ONCE ? 2 : 1;
    await Promise.all(Array.from({ length: attempts }, () => deliver(setting, sent, 'async')));
    if (sent.refused !== undefined) return;
    const known = sent.acknowledged.at(-1);
    if (known) return known.runId;
    await pause(setting, 150);
  }
  return;
}

async function learnEnd(setting: Setting, sent: Sent): Promise<void> {
  while (sent.ends.length === 0 && !setting.over.aborted) {
    await deliver(setting, sent, oneOf(setting, FORMS.slice(0, 2)));
    if (sent.ends.length === 0) await pause(setting, 300);
  }
}

/** Makes one attempt, and notes what it was told. */
async function deliver(setting: Setting, sent: Sent, form: Form): Promise<void> {
  const { sessionId, key, text, onBusy } = sent;
  await attempt(
    setting,
    '/send',
    {
      body: { sessionId, message: text, idempotencyKey: key, ...(onBusy === 'interrupt' && { onBusy }) },
      headers: HEADERS[form],
    },
    async (response) => {
      if (response.ok && form === 'events') return readRun(response, sent);
      const { status, body } = await jsonOf(response);
      if (status === 202) sent.acknowledged.push({ runId: body.runId });
      else if (status === 200) sent.ends.push(endOf(body.runId, body));
      else if (!passes(status)) sent.refused = `${status} ${body?.error?.code}`;
    },
  );
}

/** Reads the events of a run to its end, or to where it was cut. */
async function readRun(response: Response, sent: Sent): Promise<void> {
  const reader = new RawReader();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    for (const { event, data } of reader.feed(chunk)) {
      if (event === 'message_accepted') sent.acknowledged.push({ runId: data.runId });
      if (event === 'message_end') sent.ends.push(endOf(data.runId, data));
    }
  }
}

const endOf = (runId: string, { stopReason, message }: any): ToldEnd => ({
  runId,
  stopReason,
  text: saidOf(message.content).text,
});

/** Ends a run, after a moment; asks until it is told whether it did. */
async function abort(setting: Setting, sessionId: string, runId: string): Promise<void> {
  await pause(setting, 200);
  for (let attempts = 1; !setting.over.aborted; attempts++) {
    const answer = await attempt(setting, '/abort', { body: { sessionId, runId } }, jsonOf);
    if (answer?.status === 200) {
      setting.aborted.push({ sessionId, runId, aborted: answer.body.aborted, attempts });
      return;
    }
    await pause(setting, 200);
  }
}
