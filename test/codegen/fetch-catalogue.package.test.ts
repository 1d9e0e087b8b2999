import { expect } from 'chai';
import { fetchCatalogue } from '../../server/codegen/fetch-catalogue.js';
import { operationSchemas } from '../../shared/schemas/operations.js';
import { get } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { codegenGateway, TOKEN } from './fixtures/gateway.js';

async function start(): Promise<string> {
  const { url } = await closeLater(codegenGateway(), (gateway) => gateway.close()).start();
  return url!;
}

describe('the catalogue of a running gateway', () => {
  it('fits its own schema, with channels and events as they are declared', async () => {
    const { status, body } = await get(`${await start()}/methods`, { authorization: `Bearer ${TOKEN}` });
    expect(status).to.equal(200);
    expect(operationSchemas.methods.result.parse(body)).to.deep.equal(body);
    expect(body.channels).to.have.length(1);
    expect(body.channels[0]).to.have.nested.property('payload.properties.title.type', 'string');
    expect(body.events.map(({ name }: { name: string }) => name)).to.deep.equal([
      'task:created',
      'task:gone',
    ]);
  });

  it('tells what the apps say and ask, as far as the caller may use them', async () => {
    const { apps } = await fetchCatalogue(await start(), TOKEN);
    const [planner, clerk] = apps!;
    expect(planner!.tools.map(({ name }) => name)).to.deep.equal([
      'weather',
      'locate',
      'note',
      'plain',
      'untold',
    ]);
    expect(planner).to.have.nested.property('tools[0].input.required').that.deep.equals(['city']);
    expect(planner!.tools.at(-1)).to.deep.equal({ name: 'untold' });
    expect(planner!.data!.map(({ name }) => name)).to.deep.equal(['chart', "it's"]);
    expect(planner).to.have.nested.property('questions[0].payload.properties.day.type', 'string');
    expect(clerk).not.to.have.property('questions');
  });
});
