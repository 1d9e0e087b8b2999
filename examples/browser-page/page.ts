import { createClient } from 'agent-session-gateway/client';

// What the page shows is the session's state: reload it, or open it twice, and it shows the same.
const client = createClient({ baseUrl: '/agent' });
const session = client.session('main');
const watch = session.watch();

const list = document.querySelector('#messages')!;
const status = document.querySelector('#connection')!;
const form = document.querySelector('form')!;

function textOf(content: readonly { readonly type: string }[]): string {
  return content.map((block) => ('text' in block ? String(block.text) : '')).join('');
}

function show(): void {
  const { messages, run, sending } = watch.getSnapshot();
  const all = [...messages, ...(run ? [run.message] : []), ...sending.map(({ message }) => message)];
  list.replaceChildren(
    ...all.map(({ role, content }) => {
      const item = document.createElement('li');
      item.className = role;
      item.textContent = `${role}: ${textOf(content)}`;
      return item;
    }),
  );
}

watch.subscribe(show);
client.connection.subscribe((state) => {
  status.textContent = state;
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const input = form.elements.namedItem('text') as HTMLInputElement;
  session.send(input.value);
  input.value = '';
});
show();
