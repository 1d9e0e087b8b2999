/** What every page of the React tests begins with: a client, a root and counters. */
export const PRELUDE = `
import { createElement as h, memo, Profiler, StrictMode, useState } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider, useChannel, useConnection, useMethod, useSession, useSessionEvents, useSessions } from 'agent-session-gateway/client/react';

export const client = globalThis.client = createClient({ baseUrl: '/agent' });
export const textOf = ({ content }) => content.map((block) => block.text ?? '').join('');
globalThis.renders = {};
export const count = (name) => { globalThis.renders[name] = (globalThis.renders[name] ?? 0) + 1; };
const host = document.body.appendChild(document.createElement('main'));
const tree = (element) => h(GatewayProvider, { client }, element);
export const mount = (element) => { globalThis.root = createRoot(host); globalThis.root.render(tree(element)); };
export const hydrate = (element) => {
  const errors = globalThis.hydrationErrors = [];
  globalThis.root = hydrateRoot(document.querySelector('#root'), tree(element), { onRecoverableError: (error) => errors.push(String(error)) });
};
`;

/** A chat as one would write it: every message a row, under its id, from the draft on. */
export const CHAT = `
const Row = memo(({ message }) => {
  count('row ' + message.role + ' ' + textOf(message).slice(0, 8));
  return h('li', { id: message.id, 'data-role': message.role }, textOf(message));
});
export function Chat({ id = 'main', initial }) {
  const session = useSession(id, { initial });
  globalThis.session = session;
  count('chat');
  const { messages, run, queue, sending, status } = session;
  const rows = [
    ...messages,
    ...(run ? [run.message] : []),
    ...queue.map(({ message }) => message),
    ...sending.map(({ message }) => message),
  ];
  return h('section', null, h('h1', null, status), h('ol', null, rows.map((message) => h(Row, { key: message.id, message }))));
}
`;
