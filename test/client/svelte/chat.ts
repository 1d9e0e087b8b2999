/** Runes in one half, a store in the other. */
export const CHAT = `<script>
  import { liveConnection, liveSession } from 'agent-session-gateway/client/svelte';
  let { client, id, initial } = $props();
  const chat = $derived(liveSession(client, id, { initial }));
  const store = liveSession(client, 'a');
  const health = liveConnection(client);
  const answer = $derived.by(() => { globalThis.runs = (globalThis.runs ?? 0) + 1; return chat.current.run?.message.content[0]?.text ?? ''; });
  $effect(() => { globalThis.session = chat; });
</script>
<h1>{chat.current.status}</h1><h2>{health.current}</h2><h3>{$store.messages.length}</h3>
<ol>{#each chat.current.messages as message (message.id)}<li>{message.content[0].text}</li>{/each}</ol><p>{answer}</p>`;
