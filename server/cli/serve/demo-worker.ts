import { startDemo } from '../../demo/run-demo.js';
import type { DemoSettings } from '../../demo/settings.js';
import { processTerminal } from '../terminal.js';
import { askToBeKilled, serveForParent } from './serving.js';

/** What `demo` tells the process that serves it. */
export interface DemoWorkerOptions {
  readonly settings: DemoSettings;
  readonly command: string;
  /** Whether it has said how to use it already. */
  readonly isAgain: boolean;
}

/** What that process tells `demo`. */
export interface DemoStarted {
  readonly url: string;
}

serveForParent<DemoWorkerOptions, DemoStarted>(async ({ settings, command, isAgain }) => {
  const { warn } = processTerminal;
  const say = isAgain ? () => {} : processTerminal.say;
  const { url, close } = await startDemo(settings, { say, warn, command }, askToBeKilled);
  return { started: { url }, close };
});
