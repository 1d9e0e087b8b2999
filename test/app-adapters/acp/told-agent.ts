import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AcpAppOptions, acpApp } from '../../../server/app-adapters/acp/index.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url));

/** The folder of an agent that does what it is told. */
export class ToldAgent {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'acp-')));

  constructor() {
    closeLater(this, ({ folder }) => {
      for (const pid of this.started) signal(pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** @param mode What it is able to do */
  app(options: Partial<AcpAppOptions> = {}, mode = 'load') {
    return acpApp({ command: process.execPath, args: [AGENT, mode], cwd: this.folder, ...options });
  }

  /** The lines of a file that it has written. */
  lines(name: string): string[] {
    const path = join(this.folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  }

  /** The processes that were started. */
  get started(): number[] {
    return this.lines('started.txt').map(Number);
  }

  /** Waits until none of its processes lives. */
  async gone(): Promise<void> {
    await until(() => this.started.length > 0 && !this.started.some((pid) => signal(pid, 0)));
  }
}

/** Whether a process is there to get a signal. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
