import { randomBytes } from 'node:crypto';
import { request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { type Finding, ok, warning } from './finding.js';
import type { GatewayPlace } from './reach.js';

const FIX =
  'In Express, call gateway.attach(server). A proxy has to pass upgrades on (nginx: proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"). Without, clients use SSE.';

/** Checks whether a WebSocket can be opened. A failure is a warning, because SSE needs none. */
export async function examineUpgrade({ mount, patienceMs }: GatewayPlace): Promise<Finding> {
  const about = 'WebSocket';
  const status = await upgradeStatus(`${mount}/ws`, patienceMs);
  if (status === 101) return ok(about, 'can be opened');
  const what = typeof status === 'number' ? `the upgrade is answered with ${status}` : status;
  return warning(about, `cannot be opened: ${what}`, FIX);
}

/** The status of the answer to an upgrade, or the reason for a missing answer. */
function upgradeStatus(url: string, patienceMs: number): Promise<number | string> {
  const request = url.startsWith('https:') ? secure : plain;
  return new Promise((resolve) => {
    const asked = request(url, {
      agent: false,
      timeout: patienceMs,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
      },
    });
    const done = (outcome: number | string) => {
      resolve(outcome);
      asked.destroy();
    };
    asked
      .on('upgrade', (response, socket) => {
        socket.destroy();
        done(response.statusCode ?? 101);
      })
      .on('response', ({ statusCode }) => done(statusCode ?? 0))
      .on('timeout', () => done(`no answer in ${patienceMs / 1000} s`))
      .on('error', ({ message }) => done(message))
      .end();
  });
}
