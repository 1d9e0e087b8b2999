import { createRoot } from 'react-dom/client';
import { Start } from './shell/start.js';
import { takeToken } from './shell/token.js';
import { ViewBoundary } from './shell/view-boundary.js';

takeToken();
// Reload when a link with another token is opened in this tab.
addEventListener('hashchange', () => takeToken() && location.reload());
createRoot(document.getElementById('root')!).render(
  <ViewBoundary of="page">
    <Start />
  </ViewBoundary>,
);
