import type { Client } from 'agent-session-gateway/client';

/** Begins a session with the messages of an exported file. @throws Error with the reason why it did not begin */
export async function importFile(client: Client, file: File): Promise<string> {
  const name = file.name.replace(/\..*$/, '').replace(/[^\w-]+/g, '-');
  const sessionId = `${name}-${Date.now().toString(36)}`;
  await client.session(sessionId).import(messagesOf(await file.text()));
  return sessionId;
}

/** The messages of a file, one a line. @throws Error naming an invalid line */
function messagesOf(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, at) => {
      try {
        return JSON.parse(line);
      } catch {
        throw new Error(`Message ${at + 1} of the file is not JSON: it has to be a message a line.`);
      }
    });
}
