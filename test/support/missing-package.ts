/** The `--import` by which a program finds no package of a name, or of names that begin so where it ends with a slash. */
export function withoutPackage(name: string): string {
  const matches = name.endsWith('/') ? `name.startsWith('${name}')` : `name === '${name}'`;
  const hooks = `export async function resolve(name, context, next) {
    if (${matches}) throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    return next(name, context);
  }`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(moduleOf(hooks))});`;
  return moduleOf(register);
}

const moduleOf = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
