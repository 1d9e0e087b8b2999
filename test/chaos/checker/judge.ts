import type { History } from '../history.js';
import { judgeCalls } from './calls.js';
import { judgeLogs } from './logs.js';
import { judgeReadings } from './readings.js';
import { judgeRuns } from './runs.js';
import { judgeTold } from './told.js';

/** What of the promises was broken in a test, in words; nothing where all were kept. */
export function violationsOf(history: History): readonly string[] {
  return [judgeLogs, judgeRuns, judgeTold, judgeCalls, judgeReadings].flatMap((judge) => [...judge(history)]);
}
