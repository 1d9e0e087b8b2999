// The page of docs/images/cut.gif: a plain reader of events beside one with the client, on a line that is cut. Runs in the browser.
import { createClient } from '../client/index.js';
import type { GatewayEvent } from '../shared/events.js';

const AGAIN_MS = 900;

const [plain, ours] = [...document.querySelectorAll<HTMLElement>('[data-pane]')] as [
  HTMLElement,
  HTMLElement,
];

function add(pane: HTMLElement, text: string, kind = ''): void {
  const piece = document.createElement('span');
  piece.className = kind;
  piece.textContent = text;
  const box = pane.querySelector('div')!;
  box.append(piece);
  box.scrollTop = box.scrollHeight;
}

function tell(pane: HTMLElement, text: string, kind: string): void {
  const said = pane.querySelector('p')!;
  said.className = kind;
  said.textContent = text;
}

const placeOf = (cursor: string): number => Number(cursor.slice(cursor.lastIndexOf('.') + 1));

/** Reads what comes, and begins anew where the line is cut. */
async function readPlainly(): Promise<void> {
  let last = 0;
  let lost = 0;
  for (;;) {
    try {
      const response = await fetch('/agent/events?sessionId=main&from=now', {
        headers: { accept: 'text/event-stream' },
      });
      document.body.dataset.plain = 'reads';
      let rest = '';
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        const parts = (rest + piece).split('\n\n');
        rest = parts.pop()!;
        for (const part of parts) {
          const data = /^data: ?(.*)$/m.exec(part)?.[1];
          const event = data ? (JSON.parse(data) as Partial<GatewayEvent>) : undefined;
          const cursor = event?.cursor ?? /^id: ?(.*)$/m.exec(part)?.[1];
          if (!event || !('delta' in event) || cursor === undefined) continue;
          const place = placeOf(cursor);
          if (last > 0 && place > last + 1) {
            lost += place - last - 1;
            add(plain, ` ${place - last - 1} words lost `, 'hole');
            tell(plain, `${lost} words lost`, 'bad');
          }
          last = place;
          add(plain, event.delta!);
        }
      }
    } catch {
      // The line is cut.
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Reads by the client, which goes on where it was. */
async function readWhole(): Promise<void> {
  const client = createClient({ baseUrl: '/agent' });
  let cuts = 0;
  client.on('state', (state) => {
    if (state === 'reconnecting') cuts += 1;
    if (state === 'open') document.body.dataset.ours = 'reads';
  });
  let counted = 0;
  for await (const event of client.events('main', { from: 'now' })) {
    if (event.type !== 'content_delta') continue;
    if (cuts > counted) {
      counted = cuts;
      tell(ours, `${cuts} × resumed, 0 words lost`, 'good');
      add(ours, '', 'resumed');
    }
    add(ours, event.delta);
  }
}

void readPlainly();
void readWhole();
document.querySelector('button')!.addEventListener('click', () => void fetch('/cut', { method: 'POST' }));
