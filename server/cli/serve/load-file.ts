import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GatewayError } from 'agent-session-gateway/client';
import { findTsx, stripsTypes } from './abilities.js';

/** Names that are tried if no file is given. */
const NAMES = ['gateway', 'server', 'app', 'agent', 'index'];
const EXTENSIONS = ['ts', 'mts', 'js', 'mjs'];

/**
 * The path of the file to serve.
 *
 * @throws GatewayError `INVALID_REQUEST` if there is none
 */
export function findFile(given: string | undefined, folder = process.cwd()): string {
  if (given !== undefined) {
    const path = resolve(folder, given);
    if (existsSync(path)) return path;
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `There is no file ${given}` });
  }
  for (const below of ['', 'src/']) {
    for (const name of NAMES) {
      for (const extension of EXTENSIONS) {
        const path = resolve(folder, `${below}${name}.${extension}`);
        if (existsSync(path)) return path;
      }
    }
  }
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: `No file is named, and there is no ${NAMES.join(', ')} (.ts or .js) here or in src; \`demo\` runs without one`,
  });
}

/**
 * Loads a module of the user. The package tsx loads TypeScript if it is installed, else Node itself.
 *
 * @param again How many times it was loaded before. The modules that it imports are not loaded again.
 * @throws GatewayError `INVALID_REQUEST` if neither can
 */
export async function loadFile(path: string, again = 0): Promise<Readonly<Record<string, unknown>>> {
  if (/^\.[cm]?tsx?$/.test(extname(path))) await enableTypeScript(path);
  return import(`${pathToFileURL(path).href}${again === 0 ? '' : `?again=${again}`}`);
}

async function enableTypeScript(path: string): Promise<void> {
  const tsx = findTsx(path);
  if (tsx !== undefined) await import(pathToFileURL(tsx).href);
  else if (!stripsTypes()) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: `Node ${process.versions.node} loads no TypeScript by itself: npm install --save-dev tsx, or use Node 22.18 or newer`,
    });
  }
}
