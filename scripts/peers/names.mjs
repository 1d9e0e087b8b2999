import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where the packages are that stand in for the project's own. */
export const FOLDER = process.env.PEERS;

const PEERS = new Set(
  (process.env.PEER_NAMES ?? '').split(',').filter((name) => existsSync(join(FOLDER, 'node_modules', name))),
);

/** Whether an import is to be looked for in the folder. Packages among themselves are left alone: they find each other there. */
export function isRedirected(specifier, importer) {
  if (!importer || importer.includes('/node_modules/')) return false;
  const [scope, name] = specifier.split('/');
  return PEERS.has(scope.startsWith('@') ? `${scope}/${name}` : scope);
}
