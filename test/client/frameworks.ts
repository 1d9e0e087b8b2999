import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { type Client, createClient, type SessionState } from '../../client/index.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { react } from './react/chat.js';
import { svelte } from './svelte/chat.js';
import { vue } from './vue/chat.js';

/**
 * One chat as each framework has it: `h1` is the session's status, `h2` the connection's health, `h3` how many messages the session `a` has,
 * then a list of the messages and a paragraph of the answer that is being given. It says in `globalThis` what `session` it shows, its
 * `messages()`, and counts in `renders` how often its `answer` was made.
 */
export interface Framework {
  readonly name: string;
  /** Shows that chat in `host`; `go` has it show another session, and `hide` a `<b>` instead. */
  readonly page: string;
  /** Exports `render({ client, id, initial })`: its HTML, or a promise of it. */
  readonly server: string;
  /** What it says of a connection that nobody opens. */
  readonly health: string;
  /** What compiles its components. */
  readonly plugins: (generate: 'client' | 'server') => Plugin[];
}

export const FRAMEWORKS: readonly Framework[] = [react, vue, svelte];

/** What every page begins with. */
export const PRELUDE = `
import { createClient } from 'agent-session-gateway/client';
const client = createClient({ baseUrl: '/agent' });
const host = document.body.appendChild(document.createElement('main'));
Object.assign(globalThis, { client, renders: { answer: 0 }, frames: 0 });
const tick = () => { globalThis.frames += 1; requestAnimationFrame(tick); };
requestAnimationFrame(tick);
`;

/** Files of their own, because a module is loaded once. */
let rendered = 0;

/** The HTML of a chat as a server renders it. */
export async function renderOnServer(
  { name, server, plugins }: Pick<Framework, 'name' | 'server' | 'plugins'>,
  props: { readonly id: string; readonly client?: Client; readonly initial?: SessionState },
): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: server, resolveDir: ROOT },
    absWorkingDir: ROOT,
    bundle: true,
    format: 'esm',
    platform: 'node',
    // They are there once, and not in the form of modules.
    external: ['react', 'react-dom', 'vue'],
    write: false,
    plugins: plugins('server'),
  });
  const cache = join(ROOT, '.cache');
  mkdirSync(cache, { recursive: true });
  const file = closeLater(join(cache, `${name}-${process.pid}-${++rendered}.mjs`), (it) => rmSync(it));
  writeFileSync(file, outputFiles[0]!.contents);
  const { render } = await import(pathToFileURL(file).href);
  return render(props);
}

/** A client that notes what it asks of the network. */
export function silentClient() {
  const asked: unknown[] = [];
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    fetch: async (input) => {
      asked.push(input);
      throw new TypeError('asked');
    },
  });
  return { client, asked };
}
