import type { GatewayEvent } from 'agent-session-gateway/client';
import type { Recorded } from './record.js';

/** The events of an export, as `export` with `what: 'events'` and this page write them. @throws Error if the text is no export */
export function openExport(text: string): Recorded[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, at) => {
      const event = JSON.parse(line) as GatewayEvent;
      if (typeof event?.type !== 'string') throw new Error(`line ${at + 1} is no event`);
      return { event, at: event.ts ?? 0, size: line.length };
    });
}
