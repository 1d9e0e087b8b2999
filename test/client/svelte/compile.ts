import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { compile } from 'svelte/compiler';
import { ROOT } from '../../support/program.js';
import { closeLater } from '../../support/resources.js';

/** Lets esbuild bundle components that are given by their names. */
export function svelte(components: Readonly<Record<string, string>>, generate: 'client' | 'server'): Plugin {
  return {
    name: 'svelte',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\.svelte$/ }, ({ path }) => ({ path, namespace: 'svelte' }));
      onLoad({ filter: /.*/, namespace: 'svelte' }, ({ path }) => {
        const { js } = compile(components[path]!, { filename: path, generate });
        return { contents: js.code, resolveDir: ROOT };
      });
    },
  };
}

/** Files of their own, because a module is loaded once. */
let rendered = 0;

/** The HTML of a component as a server renders it. */
export async function renderOnServer(
  components: Readonly<Record<string, string>>,
  name: string,
  props: object,
): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { render } from 'svelte/server'; export { default as component } from '${name}';`,
      resolveDir: ROOT,
    },
    absWorkingDir: ROOT,
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    plugins: [svelte(components, 'server')],
  });
  const cache = join(ROOT, '.cache');
  mkdirSync(cache, { recursive: true });
  const file = closeLater(join(cache, `svelte-${process.pid}-${++rendered}.mjs`), (it) => rmSync(it));
  writeFileSync(file, outputFiles[0]!.contents);
  const { render, component } = await import(pathToFileURL(file).href);
  return (await render(component, { props })).body;
}
