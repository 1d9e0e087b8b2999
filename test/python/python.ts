import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { type Program, ROOT, runCommand } from '../support/program.js';

/** Debian's own, which has what the package needs; or one that has httpx and uvicorn too. */
const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';
const isDebian = PYTHON === '/usr/bin/python3';
const isThere =
  existsSync(PYTHON) && (!isDebian || existsSync('/usr/lib/python3/dist-packages/uvicorn/__init__.py'));

export const NEEDS_PYTHON = {
  name: "Python with httpx and uvicorn (Debian's python3-httpx, python3-uvicorn)",
  isThere,
};
export const SECRET = Buffer.alloc(32, 'p').toString('base64');

/** Runs a Python program or module with the package on its path; it is killed after the test. */
export function runPython(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  return runCommand(PYTHON, {
    args,
    env: {
      PYTHONPATH: join(ROOT, 'python'),
      PYTHONUNBUFFERED: '1',
      PYTHONDONTWRITEBYTECODE: '1',
      APP_SECRET: SECRET,
      ...env,
    },
  });
}

/** An ASGI app in a process of its own, which can be killed and started again at the same port. */
export class PythonServer {
  readonly url: string;
  readonly #start: () => Program;
  program: Program;

  private constructor(port: number, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.url = `http://127.0.0.1:${port}/`;
    this.#start = () => runPython(['-m', 'uvicorn', ...args, '--port', `${port}`, '--no-access-log'], env);
    this.program = this.#start();
  }

  /** @param module Of the app, as uvicorn names it @param folder Of the module */
  static async start(
    module: string,
    env: Readonly<Record<string, string>> = {},
    folder = join(ROOT, 'python'),
  ): Promise<PythonServer> {
    const server = new PythonServer(await freePort(), ['--app-dir', folder, module], env);
    await server.#serves();
    return server;
  }

  /** Kills it, and starts it again. */
  async restart(): Promise<void> {
    await this.program.kill('SIGKILL');
    this.program = this.#start();
    await this.#serves();
  }

  async #serves(): Promise<void> {
    await this.program.prints(/Uvicorn running/);
  }
}
