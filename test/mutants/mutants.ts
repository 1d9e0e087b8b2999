import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/program.js';
import { DOORS } from './doors.js';
import type { Mutant } from './mutant.js';
import { SESSIONS } from './sessions.js';
import { STORES } from './stores.js';

/** One thing each that the promises rest on, broken. */
export const MUTANTS: readonly Mutant[] = [...STORES, ...SESSIONS, ...DOORS];

/** The text of a file with what is broken in it. @throws where it has no such place, or several */
export function broken({ file, edits }: Mutant): string {
  return edits.reduce(
    (text, [find, replace]) => {
      if (text.split(find).length !== 2) throw new Error(`${file} has this not once: ${find}`);
      return text.replace(find, () => replace);
    },
    readFileSync(join(ROOT, file), 'utf8'),
  );
}
