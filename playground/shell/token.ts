import { settings } from './settings.js';

const KEY = `agent-session-gateway ${settings.baseUrl}`;

/** Moves a token from the fragment of the page's URL, where it would stay in the history, to where this tab keeps it; whether there is one. */
export function takeToken(): boolean {
  const match = /^#token=([^&]+)(?:&(.*))?$/.exec(location.hash);
  if (!match) return false;
  keepToken(decodeURIComponent(match[1]!));
  history.replaceState(null, '', `${location.pathname}${location.search}#${match[2] ?? ''}`);
  return true;
}

/** The token of this tab, empty without one. */
export function token(): string {
  return sessionStorage.getItem(KEY) ?? '';
}

/** Keeps a token for as long as the tab is open. */
export function keepToken(text: string): void {
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}

/** Opens the page a second time, for the same user. A tab of its own has nothing of what this one keeps. */
export function openTab(href: string): void {
  const route = href.replace(/^#/, '');
  open(`#${token() ? `token=${encodeURIComponent(token())}&` : ''}${route}`, '_blank', 'noopener');
}
