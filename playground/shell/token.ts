import { decoded } from './decoded.js';
import { settings } from './settings.js';

const KEY = `agent-session-gateway ${settings.baseUrl}`;

/** Moves a token from the URL's fragment, which the history would keep, to this tab's storage. Returns whether there was one. */
export function takeToken(): boolean {
  const match = /^#token=([^&]+)(?:&(.*))?$/.exec(location.hash);
  if (!match) return false;
  keepToken(decoded(match[1]!));
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

/** Opens the page in a second tab, for the same user. The URL has the token, because a new tab has none of this one's storage. */
export function openTab(href: string): void {
  const route = href.replace(/^#/, '');
  open(`#${token() ? `token=${encodeURIComponent(token())}&` : ''}${route}`, '_blank', 'noopener');
}
