import type { Framework } from '../frameworks.js';

const CHAT = `
import { createApp, createSSRApp, h, ref } from 'vue';
import { GATEWAY, useConnection, useSession } from 'agent-session-gateway/client/vue';
const textOf = ({ content }) => content.map((block) => block.text ?? '').join('');
const chat = {
  props: ['id', 'initial'],
  setup(props) {
    const session = useSession(() => props.id, { initial: props.initial });
    const other = useSession('a');
    const health = useConnection();
    Object.assign(globalThis, { session, messages: () => session.messages.value });
    const counted = (name, render) => ({ setup: () => () => {
      if (globalThis.renders) globalThis.renders[name] = (globalThis.renders[name] ?? 0) + 1;
      return render();
    } });
    const List = counted('list', () => h('ol', session.messages.value.map((message) => h('li', { key: message.id }, textOf(message)))));
    const Answer = counted('answer', () => h('p', session.run.value ? textOf(session.run.value.message) : ''));
    return () => [h('h1', session.status.value), h('h2', health.value), h('h3', other.messages.value.length), h(List), h(Answer)];
  },
};`;

/** The chat in Vue. */
export const vue: Framework = {
  name: 'vue',
  page: `${CHAT}
const [id, shown] = [ref('a'), ref(true)];
Object.assign(globalThis, { go: (to) => { id.value = to; }, hide: () => { shown.value = false; } });
createApp({ render: () => (shown.value ? h(chat, { id: id.value }) : h('b', 'gone')) }).provide(GATEWAY, client).mount(host);`,
  server: `${CHAT}
import { renderToString } from 'vue/server-renderer';
export const render = ({ client, ...props }) => renderToString(createSSRApp(chat, props).provide(GATEWAY, client));`,
  health: 'connecting',
  plugins: () => [],
};
