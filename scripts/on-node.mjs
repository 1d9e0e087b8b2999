import { spawnSync } from 'node:child_process';

// on-node.mjs MAJOR SCRIPT [ARGUMENTS]: runs a script on this version of Node.js or a later one. It is the one that runs this, the
// one NODE<MAJOR> names, or the package `node` of npm's registry: its per-platform package is asked for by name, because `node`
// itself needs an install script.
const [, , wanted, ...args] = process.argv;
const given = process.env[`NODE${wanted}`];
const major = Number(process.versions.node.split('.')[0]);
const command =
  given || major >= Number(wanted)
    ? [given ?? process.execPath]
    : ['npx', '--yes', '--package', `node-${process.platform}-${process.arch}@${wanted}`, '--', 'node'];
const { status, error } = spawnSync(command[0], [...command.slice(1), ...args], { stdio: 'inherit' });
if (error) throw error;
process.exit(status ?? 1);
