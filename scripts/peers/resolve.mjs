import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.env.PEERS;
const base = pathToFileURL(join(folder, 'package.json')).href;

/** A hook of Node's loader. Packages among themselves are left alone: they find each other in the folder. */
export function resolve(specifier, context, next) {
  const [scope, name] = specifier.split('/');
  const wanted = scope.startsWith('@') ? `${scope}/${name}` : scope;
  const ours = context.parentURL && !context.parentURL.includes('/node_modules/');
  const isPackage = /^[@a-z]/.test(specifier) && !specifier.includes(':');
  if (!ours || !isPackage || !PEERS.has(wanted)) return next(specifier, context);
  return next(specifier, { ...context, parentURL: base });
}

const PEERS = new Set(
  (process.env.PEER_NAMES ?? '').split(',').filter((name) => existsSync(join(folder, 'node_modules', name))),
);
