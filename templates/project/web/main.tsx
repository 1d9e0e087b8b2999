import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider } from 'agent-session-gateway/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
// Types only: nothing of the server reaches the page.
import type { Gateway } from '../server/server.js';
import { Chat } from './chat/chat.js';
import './chat/chat.css';
import './styles.css';

// Whoever comes for the first time gets a cookie; it stands for your log-in.
await fetch('/visitor', { method: 'POST' });
const client = createClient<Gateway>({ baseUrl: '/agent' });
const suggestions = await client.invoke('suggestions');

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <GatewayProvider client={client}>
      <main>
        <h1>Agent</h1>
        <Chat id="main" suggestions={suggestions} />
      </main>
    </GatewayProvider>
  </StrictMode>,
);
