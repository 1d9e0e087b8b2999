import type { History } from '../history.js';
import { askedBy, saidOf } from '../script.js';
import { type LoggedRun, logsOf } from './facts.js';

/** What senders, those who ended runs and those who answered were told is what the log says. */
export function* judgeTold(history: History): Generator<string> {
  const { sent, aborted, costs } = history;
  const runs = new Map<string, LoggedRun>();
  for (const log of logsOf(history).values()) for (const run of log.runs.values()) runs.set(run.runId, run);
  for (const { key, text, acknowledged, ends, refused } of sent) {
    // A run that was forgotten is unknown to whoever waits for it.
    const isUnknown = refused === '404 RUN_NOT_FOUND' && acknowledged.some(({ runId }) => !runs.has(runId));
    if (refused !== undefined && !(costs.forgotten && isUnknown)) yield `${key} was refused: ${refused}`;
    const told = new Set([...acknowledged, ...ends].map(({ runId }) => runId));
    if (told.size > 1 && !costs.forgotten) yield `${key} was acknowledged as ${[...told].join(' and ')}`;
    for (const runId of told) {
      const run = runs.get(runId);
      if (!run) {
        if (!costs.forgotten) yield `${key} was acknowledged as ${runId}, which is in no log`;
        continue;
      }
      if (run.accepted.key !== key) yield `${key} was acknowledged as ${runId}, which has another key`;
      const logged = saidOf(run.accepted.message.content).text;
      if (logged !== text) yield `${key} was sent as "${text}" and logged as "${logged}"`;
    }
    for (const { runId, stopReason, text: said } of ends) {
      const end = runs.get(runId)?.end;
      // An end that was told and forgotten may be another one the next time.
      if (!end || costs.forgotten) continue;
      const logged = saidOf(end.message.content).text;
      if (end.stopReason !== stopReason || logged !== said)
        yield `${key} was told ${stopReason} "${said}", and the log says ${end.stopReason} "${logged}"`;
    }
  }
  for (const { runId, aborted: did } of aborted) {
    const end = runs.get(runId)?.end;
    if (did && end && end.stopReason !== 'aborted' && !costs.forgotten)
      yield `${runId} was said to be aborted and ended as ${end.stopReason}`;
  }
  yield* judgeAnswers(history, runs);
}

function* judgeAnswers(history: History, runs: ReadonlyMap<string, LoggedRun>): Generator<string> {
  const { answered, costs } = history;
  const heard = new Map<string, string>();
  /** The last answer that each run was given before it said anything, and those that have said something. */
  const lastOf = new Map<string | undefined, string>();
  const hasSpoken = new Set<string | undefined>();
  for (const { events } of logsOf(history).values()) {
    for (const event of events) {
      if (event.type === 'content_delta') hasSpoken.add(event.runId);
      if (event.type !== 'input_result' && event.type !== 'tool_confirmation_result') continue;
      const { callId, runId } = event;
      if (heard.has(callId)) yield `${callId} was answered twice`;
      const said =
        event.type === 'input_result' ? String(event.output) : event.approved ? 'yes' : `${event.reason}`;
      heard.set(callId, said);
      if (!hasSpoken.has(runId)) lastOf.set(runId, said);
      if (!answered.some((one) => one.callId === callId && one.said === said))
        yield `${callId} has the answer "${said}", which nobody gave`;
    }
  }
  for (const { callId, person, said, counted } of answered) {
    if (!counted || costs.forgotten) continue;
    const logged = heard.get(callId);
    if (logged !== said)
      yield `${person} was told that "${said}" counts for ${callId}, whose answer is ${logged}`;
  }
  for (const { runId, sessionId, accepted, end } of runs.values()) {
    if (!sessionId.startsWith('asks:') || end?.stopReason !== 'end') continue;
    // A gateway that dies between an answer and the end leaves the question to be asked again. What the app has said of the first
    // answer then it does not say again.
    const last = lastOf.get(runId);
    const text = saidOf(end.message.content).text;
    if (last === undefined) {
      const question = askedBy(saidOf(accepted.message.content).text);
      yield `${runId} asked for a ${question} and ended without an answer`;
    } else if (text !== `heard ${last}`) yield `${runId} was answered "${last}" and says "${text}"`;
  }
}
