import { createClient } from 'agent-session-gateway/client';
import { GATEWAY } from 'agent-session-gateway/client/vue';
import { createApp } from 'vue';
import ChatPage from './ChatPage.vue';

createApp(ChatPage, { id: 'main' })
  .provide(GATEWAY, createClient({ baseUrl: '/agent' }))
  .mount('#app');
