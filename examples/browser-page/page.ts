import { createClient, type Message } from 'agent-session-gateway/client';

// What the page shows is the session's state: reload it, or open it twice, and it shows the same.
const client = createClient({ baseUrl: '/agent' });
const session = client.session('main');
const watch = session.watch();

const byId = (id: string): HTMLElement => document.getElementById(id)!;
const form = document.querySelector('form')!;
const input = form.elements.namedItem('text') as HTMLInputElement;

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

/** How an answer ended, where that was not by itself. It is part of the message: after a reload it is there as well. */
function outcomeOf({ stopReason, error }: Message): string {
  switch (stopReason) {
    case 'aborted':
    case 'superseded':
      return 'stopped';
    case 'taken_over':
    case 'handed_off':
      return 'a person goes on';
    case 'error':
      return `failed: ${error?.message}`;
    case 'timeout':
      return 'took too long';
    case 'lost':
      return 'lost';
    case 'max_tokens':
      return 'cut off';
    default:
      return '';
  }
}

/** The message that is being edited. */
let editing: string | undefined;

function edit(message?: Message): void {
  editing = message?.id;
  input.value = message ? textOf(message.content) : '';
  byId('cancel').hidden = message === undefined;
  input.focus();
}

/** Another version of a message is gone to with all that followed it. */
function pager({ id, versions = [id] }: Message): HTMLElement[] {
  if (versions.length === 1) return [];
  const at = versions.indexOf(id);
  const to = (label: string, version: string | undefined): HTMLElement[] =>
    version === undefined ? [] : [button(label, () => session.move({ version }))];
  return [
    ...to('Previous', versions[at - 1]),
    element('span', 'version', `${at + 1} of ${versions.length}`),
    ...to('Next', versions[at + 1]),
  ];
}

function row({ role, content }: Pick<Message, 'role' | 'content'>, note = ''): HTMLElement {
  const made = element('li', `${role}${note && ' waiting'}`, '');
  made.append(element('span', 'text', `${role}: ${textOf(content)}${note}`));
  return made;
}

function settled(message: Message): HTMLElement {
  const made = row(message);
  const outcome = outcomeOf(message);
  if (outcome) made.append(element('em', 'outcome', outcome));
  if (message.role === 'user') made.append(button('Edit', async () => edit(message)));
  else made.append(button('Retry', () => session.regenerate(message.id).result));
  made.append(...pager(message));
  return made;
}

function show(): void {
  const { messages, run, queue, pending, sending, regenerating, error } = watch.getSnapshot();
  // What is about to be replaced is not shown any more. Where somebody else was first, it comes back with what that has changed.
  const asked = [...sending.map(({ replaces, status }) => ({ id: replaces, status }))];
  if (regenerating) asked.push({ id: regenerating.messageId, status: regenerating.status });
  const left = asked.filter(({ id, status }) => id !== undefined && status === 'sending');
  const end = messages.findIndex(({ id }) => left.some((entry) => entry.id === id));
  byId('messages').replaceChildren(
    ...messages.slice(0, end < 0 ? undefined : end).map(settled),
    ...(run ? [row(run.message)] : []),
    // Sent while another run is going on: it has its turn later. Only this page knows of what is on its way.
    ...queue.map(({ message }) => row(message, ' (waits for its turn)')),
    ...sending.map(({ message, status, error: cause, discard }) => {
      if (status === 'sending') return row(message, ' (is being sent)');
      const made = row(message, ` (was not sent: ${cause?.message})`);
      made.append(button('Discard', async () => discard()));
      return made;
    }),
  );
  // Any of the session's pages may answer, and after a reload it is still asked.
  byId('pending').replaceChildren(
    ...pending
      .filter(({ kind }) => kind === 'confirmation')
      .map(({ callId, name, message = `Allow ${name}?` }) => {
        const question = element('p', 'confirmation', message);
        question.append(
          button('Approve', () => session.approve(callId)),
          button('Deny', () => session.deny(callId)),
        );
        return question;
      }),
  );
  byId('stop').hidden = run === null;
  if (error) complain(error);
}

async function send(text: string): Promise<void> {
  byId('error').textContent = '';
  const run = editing === undefined ? session.send(text) : session.edit(editing, text);
  edit();
  await run.result;
}

watch.subscribe(show);
client.connection.subscribe((state) => {
  byId('connection').textContent = state;
});
byId('stop').addEventListener('click', () => void session.abort().catch(complain));
byId('cancel').addEventListener('click', () => edit());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  // An empty message is refused.
  if (input.value.trim() !== '') send(input.value).catch(complain);
});
show();
