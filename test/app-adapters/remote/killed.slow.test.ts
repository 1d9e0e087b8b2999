import { GatewayProcess } from '../../support/gateway-process.js';
import { KILLS } from '../../support/kills.js';
import { STEPS, survives } from './survives.js';

const start = (effects: string): Promise<GatewayProcess> =>
  GatewayProcess.start('test/app-adapters/remote/killed-app.ts', effects, `${STEPS}`);

describe('apps of other processes that are killed', function () {
  this.timeout(550_000);

  it('answer exactly, with each step done, when the app is killed', () =>
    survives({ app: KILLS, gateway: 0 }, start));

  it('answer exactly, with each step done, when the gateway is killed too', () =>
    survives({ app: KILLS, gateway: Math.ceil(KILLS / 4) }, start));
});
