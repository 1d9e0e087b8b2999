import { createInProcessTransport } from 'agent-session-gateway';
import { createClient } from 'agent-session-gateway/client';
import { gateway } from '../lib/gateway';
import { Page } from './page-client';

// What the page shows is the session's state at each request.
export const dynamic = 'force-dynamic';

export default async function Home() {
  // In the same process, as the user whose page this is.
  const reader = createClient({ transport: createInProcessTransport(gateway, { anonymous: true }) });
  try {
    return <Page initial={await reader.session('main').state()} />;
  } finally {
    reader.disconnect();
  }
}
