import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { buildProgram } from '../support/built-program.js';
import { TOKEN } from '../support/gateway.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';

/** Starts a gateway as a process of its own, which tells a receiver. @param place Of its store: a path, or a URL */
export async function start(place: string, port: number, url: string): Promise<ChildProcess> {
  const program = await buildProgram('test/notices/program.ts');
  const child = fork(program, [place, String(port), TOKEN, url], { cwd: ROOT, silent: true });
  closeLater(child, (it) => it.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}
