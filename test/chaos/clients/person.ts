import type { LoggedEvent } from '../../../shared/events.js';
import { attempt, jsonOf, pause, type Setting } from './setting.js';

/**
 * A person who answers every question of the session that she reads about, until somebody's answer counted. Is told of the events of a
 * reader.
 */
export function person(setting: Setting, name: string, sessionId: string) {
  const asked = new Set<string>();
  const busy = new Set<Promise<void>>();
  return {
    sees(event: LoggedEvent): void {
      if (event.type !== 'input_required' && event.type !== 'tool_confirmation_required') return;
      const { callId, type } = event;
      if (asked.has(callId)) return;
      asked.add(callId);
      const answering = answer(setting, { name, sessionId, callId, isQuestion: type === 'input_required' });
      busy.add(answering);
      void answering.then(() => busy.delete(answering));
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
