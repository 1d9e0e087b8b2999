import { createClient } from '@redis/client';

/** The last word of a Redis's answer to a command. */
export async function rawCommand(url: string, ...command: string[]): Promise<string> {
  const client = createClient({ url });
  await client.connect();
  try {
    const answer = (await client.sendCommand(command)) as unknown;
    return String(typeof answer === 'object' && answer !== null ? Object.values(answer).at(-1) : answer);
  } finally {
    client.destroy();
  }
}
