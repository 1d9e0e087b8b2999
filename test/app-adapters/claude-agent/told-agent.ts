import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { query } from '@anthropic-ai/claude-agent-sdk';
import {
  type ClaudeAgentAppOptions,
  claudeAgentApp,
} from '../../../server/app-adapters/claude-agent/index.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url));

/** The folder of a stand-in for the agent's program, which does what it is told by the real SDK. */
export class ToldAgent {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'claude-')));

  constructor() {
    closeLater(this, ({ folder }) => {
      for (const pid of this.started) signal(pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** @param mode What it is able to do */
  app(options: Partial<ClaudeAgentAppOptions> = {}, mode?: string) {
    return claudeAgentApp({
      cwd: this.folder,
      query,
      env: mode === undefined ? {} : { MODE: mode },
      ...options,
      options: {
        ...{ pathToClaudeCodeExecutable: AGENT, executable: process.execPath },
        ...(options.options as object | undefined),
      },
    });
  }

  /** The lines of a file that it has written. */
  lines(name: string): string[] {
    const path = join(this.folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  }

  /** The texts that a session of it was told. */
  told(name: string): string[] | undefined {
    const sessions = Object.values(JSON.parse(this.lines('sessions.json')[0]!)) as any[];
    return sessions.find((session) => session.name === name)?.told;
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
