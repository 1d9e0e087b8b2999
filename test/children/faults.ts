import type { EventOf, GatewayEvent } from '../../shared/events.js';
import { type Message, textOf } from '../../shared/messages.js';
import { foldOf } from '../support/session-view.js';
import { type Players, planOf, saidIn } from './programs.js';

/** A run as the log tells of it. */
export interface Told {
  readonly name: string;
  readonly parent: string | undefined;
  readonly detached: boolean;
  readonly lane: number;
  readonly begun: number;
  ended: number;
  text: string;
  end: EventOf<'message_end'> | null;
}

/** The runs of a log, and what of the promises about their events was not kept. */
export function runsIn(log: readonly GatewayEvent[]): {
  readonly runs: ReadonlyMap<string, Told>;
  readonly wrong: readonly string[];
} {
  const runs = new Map<string, Told>();
  const wrong: string[] = [];
  const begin = (runId: string, run: Omit<Told, 'ended' | 'text' | 'end'>): void => {
    if (runs.has(runId)) wrong.push(`${run.name} began twice`);
    runs.set(runId, { ...run, ended: Number.POSITIVE_INFINITY, text: '', end: null });
  };
  log.forEach((event, at) => {
    const { runId = '' } = event as { runId?: string };
    const run = runs.get(runId);
    if (event.type === 'message_accepted')
      begin(runId, {
        ...{ name: textOf(event.message), parent: undefined, detached: false, lane: 0, begun: at },
      });
    else if (event.type === 'run_spawned') {
      const { message, parentRunId: parent, detached = false, lane } = event;
      const name = textOf(message);
      const above = parent === undefined ? null : runs.get(parent);
      if (above === undefined || (above && above.ended < at)) wrong.push(`${name} began under no run`);
      for (const other of runs.values()) {
        if (other.parent === parent && parent !== undefined && other.name === name)
          wrong.push(`${name} was begun twice`);
        if (other.lane === lane && !other.end) wrong.push(`${name} began in the lane of ${other.name}`);
      }
      begin(runId, { name, parent, detached, lane, begun: at });
    } else if (!run) {
      if (runId !== '') wrong.push(`${event.type} of no run`);
    } else {
      if (run.end) wrong.push(`${event.type} after the end of ${run.name}`);
      if (event.type === 'content_delta') run.text += event.delta;
      if (event.type !== 'message_end') return;
      run.end = event;
      run.ended = at;
      if ((event.lane ?? 0) !== run.lane || event.parentRunId !== run.parent)
        wrong.push(`${run.name} ended in another place`);
    }
  });
  for (const { name, end, parent, detached, ended } of runs.values()) {
    if (!end) wrong.push(`${name} has no end`);
    if (parent !== undefined && !detached && ended > runs.get(parent)!.ended)
      wrong.push(`${name} ended after its parent`);
  }
  return { runs, wrong };
}

/** What runs of programs said and came to that they had not to. @param lost Whether a process may have lost them */
export function faultsOf(log: readonly GatewayEvent[], players: Players, lost: boolean): readonly string[] {
  const { runs, wrong: broken } = runsIn(log);
  const wrong = [...broken, ...players.wrong];
  for (const { name, text, end } of runs.values()) {
    if (!end) continue;
    const program = players.programs.get(name)!;
    const plan = planOf(name, program);
    const said = saidIn(end.message);
    const came = `${name}, ${end.stopReason}`;
    if (said !== text) wrong.push(`${came} ends with ${said} and has streamed ${text}`);
    if (!plan.startsWith(text)) wrong.push(`${came} said ${text}`);
    if (/^(end|error)$/.test(end.stopReason) && text !== plan && !lost)
      wrong.push(`${came} said only ${text}`);
    if (end.stopReason === 'end' && program.ends === 'fails') wrong.push(`${came}, and had to fail`);
    if (end.stopReason === 'error' && program.ends !== 'fails' && !lost)
      wrong.push(`${came}, and did not fail`);
    if (end.stopReason === 'lost' && !lost) wrong.push(`${came}`);
    for (const told of players.told)
      if (
        told.name === name &&
        (told.text !== text || (told.stopReason ?? end.stopReason) !== end.stopReason)
      )
        wrong.push(`${came} was told to its parent as ${told.stopReason} ${told.text}`);
  }
  return [...wrong, ...treeFaults(foldOf(log).messages, runs)];
}

/** What of the children's answers is not under the answer of the run that began their tree. */
function treeFaults(messages: readonly Message[], runs: ReadonlyMap<string, Told>): readonly string[] {
  const wrong: string[] = [];
  const rootOf = (runId: string, through: boolean): string | null => {
    const { parent, detached } = runs.get(runId)!;
    if (parent === undefined) return runId;
    return detached && !through ? null : rootOf(parent, through);
  };
  const answers = new Map(messages.flatMap((message) => (message.runId ? [[message.runId, message]] : [])));
  for (const [runId, { children = [] }] of answers) {
    const expected = [...runs].flatMap(([id, { parent }]) =>
      parent !== undefined && rootOf(id, false) === runId ? id : [],
    );
    const shown = children.map((child) => child.runId);
    const { name } = runs.get(runId)!;
    if (new Set(shown).size !== shown.length) wrong.push(`${name} has a child twice`);
    for (const id of expected)
      if (!shown.includes(id)) wrong.push(`${runs.get(id)!.name} is not under ${name}`);
    for (const child of children) {
      const { name: who, text, end } = runs.get(child.runId)!;
      if (rootOf(child.runId, true) !== runId) wrong.push(`${who} is under ${name}`);
      if (saidIn(child.message) !== text || child.stopReason !== end!.stopReason)
        wrong.push(`${who} is shown as ${child.stopReason} ${saidIn(child.message)}`);
    }
  }
  return wrong;
}
