import { startDemo } from '../../demo/run-demo.js';
import type { DemoSettings } from '../../demo/settings.js';
import { processTerminal } from '../terminal.js';
import { askToBeKilled, serveForParent } from './running-service.js';

/** The options that `demo` sends to its serving process. */
export interface DemoWorkerOptions {
  readonly settings: DemoSettings;
  readonly command: string;
  /** Whether an earlier process printed the instructions. */
  readonly isAgain: boolean;
}

/** The report of that process to `demo`. */
export interface DemoStarted {
  readonly url: string;
}

serveForParent<DemoWorkerOptions, DemoStarted>(async ({ settings, command, isAgain }) => {
  const { warn } = processTerminal;
  const say = isAgain ? () => {} : processTerminal.say;
  const { url, close } = await startDemo(settings, { say, warn, command }, askToBeKilled);
  return { started: { url }, close };
});
