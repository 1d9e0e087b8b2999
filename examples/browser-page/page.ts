import { createClient } from 'agent-session-gateway/client';

// What the page shows is the session's state: reload it, or open it twice, and it shows the same.
const client = createClient({ baseUrl: '/agent' });
const session = client.session('main');
const watch = session.watch();

const byId = (id: string): HTMLElement => document.getElementById(id)!;
const form = document.querySelector('form')!;

function textOf(content: readonly { readonly type: string }[]): string {
  return content.map((block) => ('text' in block ? String(block.text) : '')).join('');
}

function element(name: string, className: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function button(label: string, onClick: () => Promise<unknown>): HTMLElement {
  const made = element('button', label.toLowerCase(), label);
  made.addEventListener('click', () => void onClick().catch(complain));
  return made;
}

function complain(error: unknown): void {
  byId('error').textContent = error instanceof Error ? error.message : String(error);
}

function show(): void {
  const { messages, run, queue, pending, sending, error } = watch.getSnapshot();
  const item = ({ role, content }: (typeof messages)[number], note = ''): HTMLElement =>
    element('li', `${role}${note && ' waiting'}`, `${role}: ${textOf(content)}${note}`);
  byId('messages').replaceChildren(
    ...messages.map((message) => item(message)),
    ...(run ? [item(run.message)] : []),
    // Sent while another run is going on: it has its turn later. Only this page knows of what is on its way.
    ...queue.map(({ message }) => item(message, ' (waits for its turn)')),
    ...sending.map(({ message }) => item(message, ' (is being sent)')),
  );
  // Any of the session's pages may answer, and after a reload it is still asked.
  byId('pending').replaceChildren(
    ...pending
      .filter(({ kind }) => kind === 'confirmation')
      .map(({ callId, name, message = `Allow ${name}?` }) => {
        const asked = element('p', 'confirmation', message);
        asked.append(
          button('Approve', () => session.approve(callId)),
          button('Deny', () => session.deny(callId)),
        );
        return asked;
      }),
  );
  byId('stop').hidden = run === null;
  if (error) complain(error);
}

async function send(text: string): Promise<void> {
  byId('error').textContent = '';
  const { stopReason, error } = await session.send(text).result;
  if (stopReason === 'aborted') complain('Stopped.');
  else if (stopReason !== 'end') complain(`The answer is not complete: ${error?.message ?? stopReason}.`);
}

watch.subscribe(show);
client.connection.subscribe((state) => {
  byId('connection').textContent = state;
});
byId('stop').addEventListener('click', () => void session.abort().catch(complain));
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const input = form.elements.namedItem('text') as HTMLInputElement;
  // An empty message is refused.
  if (input.value.trim() !== '') send(input.value).catch(complain);
  input.value = '';
});
show();
