import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeKilled, GatewayProcess } from '../../support/gateway-process.js';
import { tempDir } from '../../support/temp-dir.js';
import { until as eventually } from '../../support/until.js';
import { askedRaw, begun, until } from './task-clients.js';

const CALLS = 5;
const KILLS = 4;
const YES = { action: 'accept', content: { approve: true } };

interface Called {
  readonly n: number;
  readonly name: string;
  readonly taskId: string;
}

/** Kills gateways, one after another, as calls begin, run and ask. */
async function goOn(place: string, count: number): Promise<void> {
  const file = join(tempDir(), 'calls');
  writeFileSync(file, '');
  const calls = (): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const gateways: GatewayProcess[] = [];
  while (gateways.length < count)
    gateways.push(await GatewayProcess.start('test/plugins/mcp/program.ts', place, file));
  const url = `${gateways.at(-1)!.url}/mcp`;
  const call = ({ n, name }: Pick<Called, 'n' | 'name'>): Promise<string> =>
    begun(url, name, { headers: { 'idempotency-key': `call-${n}` } }, { n });
  const tasks: Called[] = [];
  for (let round = 0; round < KILLS; round++) {
    const isLate = round % 2 === 1;
    for (let i = 0; i < CALLS; i++) {
      const made = { n: tasks.length, name: i === 0 ? 'ask' : 'charge' };
      tasks.push({ ...made, taskId: await call(made) });
    }
    // By turns: as they are accepted, and while the last of them is done.
    if (isLate) await eventually(() => calls().some((line) => line.startsWith(`${tasks.length - 1} `)));
    await gateways[round % count]!.restart();
    // At most so many runs are beside the conversation.
    for (const { name, taskId } of tasks) if (name !== 'ask') await until(url, taskId, 'completed');
  }
  for (const { taskId } of tasks.filter(({ name }) => name === 'ask')) {
    const { inputRequests } = await until(url, taskId, 'input_required');
    const inputResponses = { [Object.keys(inputRequests)[0]!]: YES };
    await askedRaw(url, 'tasks/update', { taskId, inputResponses });
  }
  for (const { n, taskId } of tasks) {
    const { result } = await until(url, taskId, 'completed');
    expect(result.structuredContent).to.deep.equal({ n });
  }
  // A call that is sent again is the same task, and whatever began again is under its first id.
  for (const each of tasks) expect(await call(each)).to.equal(each.taskId);
  const made = new Set(calls());
  expect([...made].map((line) => Number(line.split(' ')[0])).sort((a, b) => a - b)).to.deep.equal(
    tasks.map(({ n }) => n),
  );
}

describeKilled(
  'tasks of MCP, of gateways that are killed',
  'go on, each under its id with one result, and ask what they asked',
  goOn,
);
