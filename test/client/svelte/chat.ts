import type { Framework } from '../frameworks.js';
import { compiling, rendering } from './compile.js';

/** Runes in one half, a store in the other. */
const CHAT = `<script>
  import { liveConnection, liveSession } from 'agent-session-gateway/client/svelte';
  let { client, id, initial } = $props();
  const chat = $derived(liveSession(client, id, { initial }));
  const store = liveSession(client, 'a');
  const health = liveConnection(client);
  const answer = $derived.by(() => {
    if (globalThis.renders) globalThis.renders.answer += 1;
    return chat.current.run?.message.content[0]?.text ?? '';
  });
  $effect(() => { Object.assign(globalThis, { session: chat, messages: () => chat.current.messages }); });
</script>
<h1>{chat.current.status}</h1><h2>{health.current}</h2><h3>{$store.messages.length}</h3>
<ol>{#each chat.current.messages as message (message.id)}<li>{message.content[0].text}</li>{/each}</ol><p>{answer}</p>`;

const PAGE = `<script>
  import Chat from 'chat.svelte';
  let { client } = $props();
  let id = $state('a');
  let shown = $state(true);
  Object.assign(globalThis, { go: (to) => { id = to; }, hide: () => { shown = false; } });
</script>
{#if shown}<Chat {client} {id} />{:else}<b>gone</b>{/if}`;

/** The chat in Svelte. */
export const svelte: Framework = {
  name: 'svelte',
  page: `
import { mount } from 'svelte';
import Page from 'page.svelte';
mount(Page, { target: host, props: { client } });`,
  server: rendering('chat.svelte'),
  health: 'online',
  plugins: compiling({ 'chat.svelte': CHAT, 'page.svelte': PAGE }),
};
