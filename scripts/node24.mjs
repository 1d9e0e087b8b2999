import { spawnSync } from 'node:child_process';

// Runs a script on Node.js 24: the one that runs this, NODE24, or the package `node` of npm's registry. Its per-platform package is
// asked for by name, because the package `node` itself needs an install script.
const [, , ...args] = process.argv;
const major = Number(process.versions.node.split('.')[0]);
const command =
  major >= 24 || process.env.NODE24
    ? [process.env.NODE24 ?? process.execPath]
    : ['npx', '--yes', '--package', `node-${process.platform}-${process.arch}@24`, '--', 'node'];
const env = { ...process.env, TEST_STORE: 'sqlite' };
const { status, error } = spawnSync(command[0], [...command.slice(1), ...args], { stdio: 'inherit', env });
if (error) throw error;
process.exit(status ?? 1);
