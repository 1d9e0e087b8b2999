import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newTestEpoch, record, refOf, TestWriter } from '../../testing/stores/records.js';

// power-program <folder> <batches> [full]: some writers of a database append, and note each answer that promises to survive a loss of power.
const [, , folder, batches, full] = process.argv;
const WRITERS = 4;

const store = sqliteStore({ path: join(folder!, 'gateway.db'), durability: full ? 'full' : 'normal' });
await store.open();
const answers = openSync(join(folder!, 'answers'), 'w');
let at = 0;

async function write(n: number): Promise<void> {
  const writer = await TestWriter.acquire(store, refOf(`s${n}`), { epoch: newTestEpoch() });
  for (let i = 1; i <= Number(batches); i++) {
    const isPrecious = i % 15 === 0;
    const event = record(i, isPrecious ? 'message_end' : 'content_delta');
    // Some are of many pages, so that the write-ahead log is moved often.
    const said = i % 4 === 0 ? 'x'.repeat(30_000) : '';
    await writer.append([{ ...event, body: JSON.stringify({ n, i, said }) }]);
    if (!isPrecious && !full) continue;
    const line = `${writer.log.epoch} ${n} ${i}\n`;
    at += writeSync(answers, line, at);
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n)));
console.log('done');
process.kill(process.pid, 'SIGKILL');
