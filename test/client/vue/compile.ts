import type { Plugin } from 'esbuild';
import { compileScript, parse } from 'vue/compiler-sfc';
import { ROOT } from '../../support/program.js';

/** Lets esbuild bundle single-file components that are given by their names, for a server. */
export const compiling = (components: Readonly<Record<string, string>>) => (): Plugin[] => [
  {
    name: 'vue',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\.vue$/ }, ({ path }) => ({ path, namespace: 'vue' }));
      onLoad({ filter: /.*/, namespace: 'vue' }, ({ path }) => {
        const { descriptor, errors } = parse(components[path]!, { filename: path });
        if (errors.length > 0) throw errors[0];
        const templateOptions = { ssr: true, ssrCssVars: [] };
        const { content } = compileScript(descriptor, { id: path, inlineTemplate: true, templateOptions });
        return { contents: content, loader: 'ts', resolveDir: ROOT };
      });
    },
  },
];

/** A script that exports how a server renders a component. */
export const rendering = (name: string): string => `
import { createClient } from 'agent-session-gateway/client';
import { GATEWAY } from 'agent-session-gateway/client/vue';
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import Component from '${name}';
export const render = (props) =>
  renderToString(createSSRApp(Component, props).provide(GATEWAY, createClient({ baseUrl: '/agent' })));`;
