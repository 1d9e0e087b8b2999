import type { Plugin } from 'esbuild';
import { compile } from 'svelte/compiler';
import { ROOT } from '../../support/program.js';

/** Lets esbuild bundle components that are given by their names. */
export const compiling =
  (components: Readonly<Record<string, string>>) =>
  (generate: 'client' | 'server'): Plugin[] => [
    {
      name: 'svelte',
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /\.svelte$/ }, ({ path }) => ({ path, namespace: 'svelte' }));
        onLoad({ filter: /.*/, namespace: 'svelte' }, ({ path }) => {
          const { js } = compile(components[path]!, { filename: path, generate });
          return { contents: js.code, resolveDir: ROOT };
        });
      },
    },
  ];

/** A script that exports how a server renders a component. */
export const rendering = (name: string): string => `
import { render as toHtml } from 'svelte/server';
import Component from '${name}';
export const render = async (props) => (await toHtml(Component, { props })).body;`;
