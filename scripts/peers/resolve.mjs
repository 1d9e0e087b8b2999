import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FOLDER, isRedirected } from './names.mjs';

const parentURL = pathToFileURL(join(FOLDER, 'package.json')).href;

/** A hook of Node's loader. */
export function resolve(specifier, context, next) {
  return next(specifier, isRedirected(specifier, context.parentURL) ? { ...context, parentURL } : context);
}
