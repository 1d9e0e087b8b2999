import type { KeyboardEvent } from 'react';

/** Moves the focus between the messages of a list by the arrows, Home and End, if a message has the focus. */
export function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  const row = event.target as HTMLElement;
  if (!row.matches('.message')) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.message')];
  const at = rows.indexOf(row);
  const next = {
    ArrowUp: rows[at - 1],
    ArrowDown: rows[at + 1],
    Home: rows[0],
    End: rows.at(-1),
  }[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
