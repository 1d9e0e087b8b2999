import type { Shown } from '../history.js';
import { attempt, jsonOf, pause, type Setting } from './setting.js';

/** How long a person waits to see that an answer counted, in milliseconds, before she gives it again: a store may have forgotten it. */
const SEES_MS = 2000;

/** A person who answers every question of the session that she reads about, until she reads somebody's answer. Is told what a reader is shown. */
export function person(setting: Setting, name: string, sessionId: string) {
  /** Questions that she reads as open. */
  const open = new Set<string>();
  const answering = new Set<string>();
  const answers = async (callId: string, isQuestion: boolean): Promise<void> => {
    open.add(callId);
    if (answering.has(callId)) return;
    answering.add(callId);
    const asked = { name, sessionId, callId, isQuestion };
    while (!setting.over.aborted && open.has(callId)) {
      await answer(setting, asked);
      await pause(setting, SEES_MS);
    }
    answering.delete(callId);
  };
  return {
    sees(shown: Shown): void {
      if (shown.kind === 'snapshot') {
        open.clear();
        for (const { callId, kind } of shown.state.pending) void answers(callId, kind === 'input');
      }
      if (shown.kind !== 'event') return;
      const { event } = shown;
      if (event.type === 'input_required' || event.type === 'tool_confirmation_required')
        void answers(event.callId, event.type === 'input_required');
      if (event.type === 'input_result' || event.type === 'tool_confirmation_result')
        open.delete(event.callId);
    },
  };
}

interface Asked {
  readonly name: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly isQuestion: boolean;
}

async function answer(setting: Setting, { name, sessionId, callId, isQuestion }: Asked): Promise<void> {
  const allows = setting.random() < 0.5;
  const own = `no, says ${name} to ${callId}`;
  const said = isQuestion ? `${name} to ${callId}` : allows ? 'yes' : own;
  const response = isQuestion ? { output: said } : { approved: allows, ...(!allows && { reason: own }) };
  await pause(setting, 100);
  while (!setting.over.aborted) {
    const told = await attempt(
      setting,
      '/tool-response',
      { body: { sessionId, callId, ...response } },
      jsonOf,
    );
    if (told?.status === 200 || told?.status === 409 || told?.status === 404) {
      setting.answered.push({ sessionId, callId, person: name, said, counted: told.status === 200 });
      return;
    }
    await pause(setting, 200);
  }
}
