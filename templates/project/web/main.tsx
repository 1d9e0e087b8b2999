import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider } from 'agent-session-gateway/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
// Types only: nothing of the server reaches the page.
import type { Gateway } from '../server/server.js';
import { Chat } from './components/chat/chat.js';
import './components/ui/ui.css';
import './components/message/message.css';
import './components/runs/runs.css';
import './components/chat/chat.css';
import './styles.css';

// Whoever comes for the first time gets a cookie; it stands for your log-in.
await fetch('/visitor', { method: 'POST' });
const client = createClient<Gateway>({ baseUrl: '/agent' });

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <GatewayProvider client={client}>
      <main>
        <h1>Agent</h1>
        <Chat id="main" />
      </main>
    </GatewayProvider>
  </StrictMode>,
);
