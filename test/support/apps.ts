import { defineApp } from '../../server/index.js';
import { type Gate, gate } from './gate.js';

/** Answers with the message's own text, in two deltas. */
export const echo = defineApp({
  description: 'Repeats what it is told',
  async *run(turn) {
    yield 'echo: ';
    yield turn.text;
  },
});

/** An app whose runs say something and then wait until the test lets them go on; the signal does not stop them. */
export function heldApp(
  begins = 'working ',
  ends?: string,
): {
  readonly app: ReturnType<typeof defineApp>;
  readonly held: Gate;
  readonly began: Gate;
} {
  const held = gate();
  const began = gate();
  const app = defineApp({
    async *run(turn) {
      yield begins;
      began.open();
      await held.passed;
      yield ends ?? `done with ${turn.text}`;
    },
  });
  return { app, held, began };
}

/** What `halting` has said where two were asked after each other. */
export const TWO_HALTED = [
  'user: one',
  'assistant: one begins and ends',
  'user: two',
  'assistant: two begins and ends',
];

/** Says something, and stands still until it may go on. */
export function halting(begins = 'begins ', ends = 'and ends') {
  const [began, held] = [gate(), gate()];
  let runs = 0;
  const app = defineApp({
    async *run({ text, signal }) {
      runs += 1;
      yield `${text} ${begins}`;
      began.open();
      await Promise.race([held.passed, new Promise((_, reject) => signal.addEventListener('abort', reject))]);
      yield ends;
    },
  });
  return { app, began, held, runs: () => runs };
}

/** An app that says one word for each gate, as they are opened. */
export function wordedApp(count = 2) {
  const words = Array.from({ length: count }, () => gate<string>());
  const app = defineApp({
    async *run() {
      for (const word of words) yield await word.passed;
    },
  });
  return { app, words };
}
