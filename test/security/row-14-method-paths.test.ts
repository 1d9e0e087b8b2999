import { expect } from 'chai';
import { createGateway, method } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { post } from '../support/gateway.js';
import { startEveryDoor } from './every-door.js';

const PATHS = [
  'constructor:constructor',
  'constructor',
  '__proto__:toString',
  '__proto__',
  'tasks:list:constructor',
  'tasks:__proto__',
  'tasks',
  'tasks:',
  ':tasks:list',
  'tasks::list',
  'tasks.list',
  'tasks/list',
  'TASKS:LIST',
  'tasks:list ',
  'hasOwnProperty',
  'toString',
  'valueOf',
  'handler',
  'tasks:list:handler',
  '0',
  'admin:drop\u0000',
];

describe('threat row 14: walks through the method tree', () => {
  it('lead nowhere, on every door', async () => {
    const { url, opens } = await startEveryDoor({
      methods: { tasks: { list: () => [] }, admin: { drop: method({ roles: ['admin'], handler: () => 1 }) } },
    });
    const sockets = await Promise.all(opens.map((open) => open()));
    for (const socket of sockets) await socket.connect();
    for (const path of PATHS) {
      const { status, body } = await post(`${url}/invoke`, { method: path });
      expect([status, body.error.code], path).to.deep.equal([404, 'METHOD_NOT_FOUND']);
      for (const socket of sockets) {
        const { error } = await socket.ask(`invoke ${path}`, 'invoke', { method: path });
        expect(error.code, path).to.equal('METHOD_NOT_FOUND');
        expect((await socket.ask(`as ${path}`, path)).error.code, path).to.equal('METHOD_NOT_FOUND');
      }
    }
    expect((await post(`${url}/invoke`, { method: 'tasks:list' })).body).to.deep.equal([]);
    expect((await post(`${url}/invoke`, { method: 'admin:drop' })).body.error.code).to.equal('GUARD_DENIED');
  });

  it('cannot be built in: names that reach a prototype are refused at the start', () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const methods = Object.defineProperty({}, name, { value: () => 1, enumerable: true });
      expect(() => createGateway({ app: echo, methods: methods as never })).to.throw(/reserved/);
      expect(() => createGateway({ app: echo, methods: { a: methods } as never })).to.throw(/reserved/);
    }
  });
});
