import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../support/built-program.js';
import { freePort } from '../support/free-port.js';
import { TOKEN } from '../support/gateway.js';
import { type Program, runCommand } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

/** Two places for a gateway on one database: where the one that serves is restarted, the other takes over. */
export class Pair {
  readonly ports: readonly [number, number];
  readonly #folder = tempDir();
  readonly #running: (Program | undefined)[] = [];

  readonly #program: string;

  private constructor(ports: readonly [number, number], program: string, source: string) {
    this.ports = ports;
    this.#program = program;
    writeFileSync(join(this.#folder, 'server.mjs'), source);
  }

  /** Starts the first of them. @param source The module that is served. */
  static async start(source: string): Promise<Pair> {
    const program = await buildProgram('test/deploy/gateway-program.ts');
    const pair = new Pair([await freePort(), await freePort()], program, source);
    await pair.#serves(pair.start(0));
    return pair;
  }

  /** Starts one of them, which serves or stands by. */
  start(which: 0 | 1): Program {
    const args = [this.#program, 'start', '--standby', '--port', String(this.ports[which])];
    const env = { GATEWAY_TOKEN: TOKEN, GATEWAY_DB: 'kept.db' };
    const program = runCommand(process.execPath, { args, cwd: this.#folder, env });
    this.#running[which] = program;
    return program;
  }

  /** Restarts the one that serves once the other stands by; resolves when that serves, and with the code that the first ended with. */
  async handOver(from: 0 | 1): Promise<number | string> {
    const next = this.start(from === 0 ? 1 : 0);
    await next.prints(/"message":"waiting"/);
    const code = await this.#running[from]!.kill('SIGTERM');
    await this.#serves(next);
    return code;
  }

  async #serves(program: Program): Promise<void> {
    await program.prints(/"message":"started"/);
  }
}
