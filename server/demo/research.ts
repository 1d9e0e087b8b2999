import { setTimeout as delay } from 'node:timers/promises';
import { textOf } from '../../shared/messages.js';
import type { Turn } from '../index.js';

/** The helpers of a research, and what each does, step by step. */
const HELPERS: Readonly<Record<string, readonly string[]>> = {
  sources: ['Looks into the library.', 'Asks two experts.', 'Has nine sources.'],
  numbers: ['Counts.', 'Counts again, to be sure.', 'Arrives at the same number.'],
  doubts: ['Wonders whether it is true.', 'Sleeps on it.', 'Has no doubt left.'],
};

/** Words that a step takes as long as. */
const STEP_WORDS = 20;

/** Has helpers look into something at the same time, and tells what they found. */
export async function* research(
  turn: Turn<any>,
  topic: string,
  wordMs: number,
): AsyncGenerator<string, void> {
  yield `Three helpers look into ${topic}.\n\n`;
  const children = Object.entries(HELPERS).map(([id, work]) =>
    turn.spawn(id, { id, message: topic, run: (helper) => help(helper, work, wordMs) }),
  );
  for (const { id, result } of children) {
    const { text, stopReason } = await result;
    yield `- ${id}: ${stopReason === 'end' ? text : `${text}(ended before it was done)`}\n`;
  }
}

/** Works step by step. A helper that resumes after a restart repeats none. */
async function* help(turn: Turn, work: readonly string[], wordMs: number): AsyncGenerator<string, void> {
  for (const [at, sentence] of work.entries()) {
    await turn.step(`${at}`, ({ signal }) => delay(wordMs * STEP_WORDS, null, { signal }));
    yield `${sentence} `;
    for (const told of await turn.step(`told ${at}`, () => turn.steered().map(textOf)))
      yield `(Told: ${told}.) `;
  }
}
