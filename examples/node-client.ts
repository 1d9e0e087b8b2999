// Sends a message to a gateway, prints the answer as it grows and answers a confirmation.
//   GATEWAY_URL=http://127.0.0.1:18789 GATEWAY_TOKEN=… npx tsx examples/node-client.ts "delete report.txt"
import { createClient } from 'agent-session-gateway/client';

const client = createClient({
  baseUrl: process.env.GATEWAY_URL ?? 'http://127.0.0.1:18789',
  token: process.env.GATEWAY_TOKEN,
});
const session = client.session('node-client');
const run = session.send(process.argv[2] ?? 'hello');

for await (const event of run) {
  if (event.type === 'content_delta') process.stdout.write(event.delta);
  if (event.type === 'tool_confirmation_required') {
    process.stdout.write(`\n[${event.message ?? event.name} Yes.]\n`);
    await session.approve(event.callId);
  }
}
const { stopReason } = await run.result;
console.log(`\n[${stopReason}]`);
client.disconnect();
