'use client';
import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider, useSession } from 'agent-session-gateway/client/react';

const client = createClient({ baseUrl: '/agent' });

function Session() {
  const { messages, status } = useSession('main');
  return `${status}: ${messages.length}`;
}

export default function Home() {
  return (
    <GatewayProvider client={client}>
      <Session />
    </GatewayProvider>
  );
}
