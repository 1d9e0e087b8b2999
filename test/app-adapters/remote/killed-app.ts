// An app of its own process, whose effects are lines of a file: killed-app.ts <file of effects> <port>
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { serveApp } from '../../../server/app-adapters/remote/index.js';
import { SECRET } from './killed-secret.js';

const [effects = '', port = '', steps = ''] = process.argv.slice(2);
await serveApp(
  {
    async *run(turn) {
      for (let at = 1; at <= Number(steps); at++) {
        const n = await turn.step(`s${at}`, async ({ key }) => {
          await delay(Math.random() * 40);
          appendFileSync(effects, `${key}\n`);
          await delay(Math.random() * 5);
          return at;
        });
        yield `w${n} `;
        if (at === 3 && turn.text === 'ask') yield `${String(await turn.ask({ name: 'go on?' }))} `;
        if (at === 5) await turn.sleep('rest', 20);
      }
    },
  },
  { secret: SECRET, port: Number(port) },
);
process.send!('started');
