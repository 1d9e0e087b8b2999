import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Does work that one process does at a time: others wait until the file is gone, or its process is. */
export function alone(path, work) {
  mkdirSync(dirname(path), { recursive: true });
  while (!isTaken(path)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  const leave = () => rmSync(path, { force: true });
  process.once('exit', leave);
  try {
    return work();
  } finally {
    process.off('exit', leave);
    leave();
  }
}

function isTaken(path) {
  try {
    writeFileSync(path, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch {
    if (isLeft(path)) rmSync(path, { force: true });
    return false;
  }
}

/** Whether the process that took it was killed. */
function isLeft(path) {
  try {
    process.kill(Number(readFileSync(path, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
