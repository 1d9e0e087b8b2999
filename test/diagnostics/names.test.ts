import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Channels, channels, type TraceChannel } from '../../server/diagnostics/index.js';
import { echo } from '../support/apps.js';
import { post, startGateway } from '../support/gateway.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const PHASES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
const { audit, connectionEnd, guard, ...traced } = channels;
const NAMES: Readonly<Record<string, string>> = {
  operation: 'agent-session-gateway.operation',
  run: 'agent-session-gateway.run',
  tool: 'agent-session-gateway.tool',
  step: 'agent-session-gateway.step',
  model: 'agent-session-gateway.model',
  append: 'agent-session-gateway.append',
};

describe('the names of the channels', () => {
  it("are Node's for tracing channels, one for each event, and those of the page", () => {
    const page = readFileSync(join(ROOT, 'docs/observability.md'), 'utf8');
    expect(Object.keys(traced)).to.have.members(Object.keys(NAMES));
    for (const [key, name] of Object.entries(NAMES)) {
      const channel = traced[key as keyof typeof traced] as TraceChannel<object>;
      for (const phase of PHASES) expect(channel[phase].name).to.equal(`tracing:${name}:${phase}`);
      expect(page)
        .to.include(`| \`channels.${key}\` |`)
        .and.to.match(new RegExp(`\`(?:(?:tracing:)?agent-session-gateway)?\\.${key}[\`:]`));
    }
    for (const phase of PHASES) expect(page).to.match(new RegExp(`:${phase}\``));
    const plain = { audit, connectionEnd, guard };
    expect([connectionEnd.name, guard.name]).to.deep.equal([
      'agent-session-gateway.connection.end',
      'agent-session-gateway.guard',
    ]);
    for (const [key, { name }] of Object.entries(plain))
      expect(page)
        .to.include(`\`${String(name)}\``)
        .and.to.include(`\`channels.${key}\``);
    const { length } = Object.keys({ ...NAMES, ...plain });
    expect(Object.keys(channels satisfies Channels)).to.have.length(length);
  });

  it('are heard by who knows no more than them', async () => {
    const heard: string[] = [];
    const hear = (_message: unknown, name: string | symbol): void => void heard.push(String(name));
    const names = ['operation:start', 'run:start', 'run:asyncEnd', 'append:end'];
    for (const name of names) {
      subscribe(`tracing:agent-session-gateway.${name}`, hear);
      closeLater(name, () => void unsubscribe(`tracing:agent-session-gateway.${name}`, hear));
    }
    const { url } = await startGateway({ app: echo });
    await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    await until(() => names.every((name) => heard.includes(`tracing:agent-session-gateway.${name}`)));
  });
});
