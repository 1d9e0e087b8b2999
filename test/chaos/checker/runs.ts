import { untrueEnds } from '../../support/streamed.js';
import type { History } from '../history.js';
import { answerTo, saidOf } from '../script.js';
import { type LoggedRun, logsOf, type SessionLog } from './facts.js';

/** One start and one end a run, none beside another; first in, first out; one run a key; what apps say is what they were asked to say. */
export function* judgeRuns(history: History): Generator<string> {
  for (const log of logsOf(history).values()) {
    yield* judgeTurns(log);
    for (const wrong of untrueEnds(log.events)) yield `${log.sessionId}: ${wrong}`;
    yield* judgeOrder(history, log);
    for (const run of log.runs.values()) yield* judgeEnd(history, log, run);
  }
}

function* judgeTurns({ sessionId, events }: SessionLog): Generator<string> {
  const counts = new Map<string, number>();
  const count = (what: string): number => {
    const found = (counts.get(what) ?? 0) + 1;
    counts.set(what, found);
    return found;
  };
  let active: string | null = null;
  for (const event of events) {
    const { runId, type, cursor } = event;
    const at = `${sessionId} at ${cursor}`;
    if (runId === undefined) continue;
    if (type === 'message_accepted') {
      if (count(`accepted ${runId}`) > 1) yield `${at}: ${runId} is accepted twice`;
      if (event.key !== undefined && count(`key ${event.key}`) > 1)
        yield `${at}: key ${event.key} has two runs`;
      const { text } = saidOf(event.message.content);
      if (count(`text ${text}`) > 1) yield `${at}: the message "${text}" is accepted twice`;
      continue;
    }
    if (!counts.has(`accepted ${runId}`)) yield `${at}: ${type} of ${runId}, which was never accepted`;
    if (type === 'message_start') {
      if (active !== null) yield `${at}: ${runId} starts while ${active} runs`;
      if (count(`start ${runId}`) > 1) yield `${at}: ${runId} starts twice`;
      if (counts.has(`end ${runId}`)) yield `${at}: ${runId} starts after its end`;
      active = runId;
    } else if (type === 'message_end') {
      if (count(`end ${runId}`) > 1) yield `${at}: ${runId} ends twice`;
      // One that never started ends beside the one that runs.
      if (active === runId) active = null;
      else if (counts.has(`start ${runId}`)) yield `${at}: ${runId} ends while ${active} runs`;
    } else if (active !== runId && type !== 'steer') yield `${at}: ${type} of ${runId} while ${active} runs`;
  }
}

function* judgeOrder({ sent, costs }: History, { sessionId, runs, events }: SessionLog): Generator<string> {
  const ofQueue = [...runs.values()].filter(({ accepted }) => accepted.onBusy === 'queue');
  const starts = events.filter((event) => event.type === 'message_start').map(({ runId }) => runId);
  const inOrder = ofQueue.map(({ runId }) => runId).filter((runId) => starts.includes(runId));
  const started = starts.filter((runId) => ofQueue.some((run) => run.runId === runId));
  const wrong = started.findIndex((runId, index) => runId !== inOrder[index]);
  if (wrong >= 0) yield `${sessionId}: ${started[wrong]} starts before ${inOrder[wrong]}, which came first`;
  // What was forgotten is sent again, later.
  if (costs.forgotten) return;
  const numbers = new Map<string, number>();
  for (const { accepted } of runs.values()) {
    const of = sent.find(({ key }) => key === accepted.key);
    if (!of) continue;
    if (of.number < (numbers.get(of.client) ?? 0))
      yield `${sessionId}: ${of.client} sent ${of.key} before what is accepted before it`;
    numbers.set(of.client, of.number);
  }
}

function* judgeEnd(history: History, { sessionId, app }: SessionLog, run: LoggedRun): Generator<string> {
  const { runId, accepted, end } = run;
  const { aborted, costs, sent } = history;
  const what = `${sessionId}: ${runId}`;
  if (!end) {
    yield `${what} has no end`;
    return;
  }
  const text = saidOf(accepted.message.content).text;
  const said = saidOf(end.message.content).text;
  const whole = answerTo(text);
  if (app !== 'asks') {
    const fits = end.stopReason === 'end' ? said === whole : whole.startsWith(said);
    if (!fits) yield `${what} ends as ${end.stopReason} with "${said}" and was to say "${whole}"`;
  }
  const interrupted = sent.some((one) => one.sessionId === sessionId && one.onBusy === 'interrupt');
  const allowed: Readonly<Record<string, boolean>> = {
    end: true,
    aborted: aborted.some((one) => one.runId === runId),
    superseded: interrupted,
    lost: costs.forgotten || (costs.lostRuns && app === 'talk'),
  };
  if (!allowed[end.stopReason]) yield `${what} ends as ${end.stopReason}, for which there is no reason`;
}
