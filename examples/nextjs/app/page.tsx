import { createClient } from 'agent-session-gateway/client';
import { connection } from 'next/server';
import { Suspense } from 'react';
import { transport } from '../lib/gateway';
import { Page } from './page-client';

export default function Home() {
  return (
    <Suspense>
      <Conversation />
    </Suspense>
  );
}

async function Conversation() {
  // The page shows the session's state at each request, and nothing of it is made by the build.
  await connection();
  const reader = createClient({ transport: transport() });
  try {
    return <Page initial={await reader.session('main').state()} />;
  } finally {
    reader.disconnect();
  }
}
