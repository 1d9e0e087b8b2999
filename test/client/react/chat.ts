import type { Framework } from '../frameworks.js';

const CHAT = `
import { createElement as h, useState } from 'react';
import { GatewayProvider, useConnection, useSession } from 'agent-session-gateway/client/react';
const textOf = ({ content }) => content.map((block) => block.text ?? '').join('');
function Chat({ id, initial }) {
  const session = useSession(id, { initial });
  const count = useSession('a', { select: ({ messages }) => messages.length });
  const { messages, run, status } = session;
  Object.assign(globalThis, { session, messages: () => messages });
  if (globalThis.renders) globalThis.renders.answer += 1;
  return [
    h('h1', { key: 1 }, status), h('h2', { key: 2 }, useConnection()), h('h3', { key: 3 }, count),
    h('ol', { key: 4 }, messages.map((message) => h('li', { key: message.id }, textOf(message)))),
    h('p', { key: 5 }, run ? textOf(run.message) : ''),
  ];
}`;

/** The chat in React. */
export const react: Framework = {
  name: 'react',
  page: `${CHAT}
import { createRoot } from 'react-dom/client';
function Page() {
  const [id, go] = useState('a');
  const [shown, show] = useState(true);
  Object.assign(globalThis, { go, hide: () => show(false) });
  return shown ? h(Chat, { id }) : h('b', null, 'gone');
}
createRoot(host).render(h(GatewayProvider, { client }, h(Page)));`,
  server: `${CHAT}
import { renderToString } from 'react-dom/server';
export const render = ({ client, ...props }) => renderToString(h(GatewayProvider, { client }, h(Chat, props)));`,
  health: 'connecting',
  plugins: () => [],
};
