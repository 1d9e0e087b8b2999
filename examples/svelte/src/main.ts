import { createClient } from 'agent-session-gateway/client';
import { mount } from 'svelte';
import Chat from './Chat.svelte';

const client = createClient({ baseUrl: '/agent' });
mount(Chat, { target: document.getElementById('app')!, props: { client, id: 'main' } });
