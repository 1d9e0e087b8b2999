import { cut } from '../../shared/cut.js';
import type { Guard, GuardWindow } from '../apps/guard.js';

/** A window with its defaults. */
export interface Window {
  readonly chars: number;
  readonly sentences: number | undefined;
  readonly ms: number;
  readonly overlap: number;
}

const DEFAULT = { chars: 200, charsOfSentences: 2000, ms: 500, overlap: 64 };

const windowOf = ({ chars, sentences, ms, overlap }: GuardWindow): Window => ({
  chars: chars ?? (sentences === undefined ? DEFAULT.chars : DEFAULT.charsOfSentences),
  sentences,
  ms: ms ?? DEFAULT.ms,
  overlap: overlap ?? DEFAULT.overlap,
});

/** The window of several guards: that of the last, which is the app's own, with what the others need to see of it again. */
export function windowOfAll(guards: readonly Guard[]): Window {
  const windows = guards.map(({ window }) => windowOf(window ?? {}));
  const given = guards.findLastIndex(({ window }) => window !== undefined);
  const overlap = Math.max(...windows.map((each) => each.overlap));
  return { ...windows.at(given)!, overlap };
}

/** The end of a sentence, with what closes it, and a break of lines. */
const ENDS = /[.!?…]+["'”’)\]]*\s|[。！？]["'”’」』）]*|\n/gu;

/**
 * The number of characters of a held text that are to be checked now; 0 if it may wait for more.
 *
 * @param seen Characters at its beginning that were checked before
 * @param waited Milliseconds since the first of the others came
 */
export function ripe(text: string, seen: number, waited: number, { chars, sentences, ms }: Window): number {
  if (text.length <= seen) return 0;
  if (text.length - seen >= chars || waited >= ms) return text.length;
  if (sentences === undefined) return 0;
  const ends = [...text.matchAll(ENDS)]
    .map(({ 0: end, index }) => index + end.length)
    .filter((end) => end > seen);
  return ends.length >= sentences ? ends.at(-1)! : 0;
}

/** Divides a text that was let through into what goes on and what stays held, and never within a character. */
export function divided(text: string, overlap: number): readonly [string, string] {
  const said = cut(text, Math.max(0, text.length - overlap));
  return [said, text.slice(said.length)];
}
