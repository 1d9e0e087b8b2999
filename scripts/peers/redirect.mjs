import Module, { register } from 'node:module';
import { join } from 'node:path';
import { FOLDER, isRedirected } from './names.mjs';

// `--import` this to take the packages PEER_NAMES from the folder PEERS: for what is imported, and, as mocha loads tests, required.
register('./resolve.mjs', import.meta.url);

const resolveFilename = Module._resolveFilename;
const inFolder = { filename: join(FOLDER, 'package.json'), paths: Module._nodeModulePaths(FOLDER) };
Module._resolveFilename = function resolve(request, parent, ...rest) {
  const from = isRedirected(request, parent?.filename) ? { ...parent, ...inFolder } : parent;
  return resolveFilename.call(this, request, from, ...rest);
};
