import { type Application, defineApp, type Turn } from '../../server/index.js';
import { type Gate, gate } from './gate.js';

/** A run that stands still until the test tells it how to go on. */
export interface Puppet {
  readonly turn: Turn;
  /** Has it say this at last, and end. */
  finish(text: string): void;
}

/** What an answer says before its run stands still: it is in the message that is answered. */
export const beginningOf = (text: string): string => (text.startsWith('say ') ? 'I begin. ' : '');

/** An app whose runs stand still, by their ids; a run that is resumed is another one. */
export function puppets(options: { readonly resumable?: boolean } = {}): {
  readonly app: Application;
  standing(runId: string): Promise<Puppet>;
  /** The process ends: those that stand are not to be met again. */
  forget(): void;
} {
  const gates = new Map<string, Gate<Puppet>>();
  const gateOf = (runId: string): Gate<Puppet> => {
    const known = gates.get(runId) ?? gate<Puppet>();
    gates.set(runId, known);
    return known;
  };
  const app = defineApp({
    resumable: options.resumable ?? false,
    async *run(turn) {
      const told = gate<string>();
      const begins = beginningOf(turn.text);
      if (begins !== '' && !turn.resumed?.content.length) yield begins;
      gateOf(turn.runId).open({ turn: turn as Turn, finish: (text) => told.open(text) });
      const text = await told.passed;
      if (text !== '') yield text;
    },
  });
  return { app, standing: (runId) => gateOf(runId).passed, forget: () => gates.clear() };
}
