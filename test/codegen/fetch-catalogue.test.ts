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
  it('holds what the roles of the caller open, in whatever way it asks', async () => {
    const url = await start();
    const paths = async (token: string) => (await fetchCatalogue(url, token)).methods.map(({ path }) => path);
    expect(await paths(TOKEN)).to.include.members(['tasks:create', 'tasks:admin:archive']);
    expect(await paths('guest'))
      .to.include('tasks:create')
      .and.not.include('tasks:admin:archive');
  });

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

  it('is refused with the code of the gateway', async () => {
    const url = await start();
    const error = await fetchCatalogue(url, 'wrong').catch((refused: unknown) => refused);
    expect(error).to.include({ code: 'UNAUTHENTICATED', status: 401 });
  });
});
