import { SECRET } from '../app-adapters/remote/killed-secret.js';
import { STEPS, survives } from '../app-adapters/remote/survives.js';
import { describeWith } from '../support/describe-with.js';
import { KILLS } from '../support/kills.js';
import { NEEDS_PYTHON, PythonServer } from './python.js';

const start = (effects: string): Promise<PythonServer> =>
  PythonServer.start('tests.killed_app:app', { APP_SECRET: SECRET, EFFECTS: effects, STEPS: `${STEPS}` });

describeWith(NEEDS_PYTHON, 'apps in Python that are killed', function () {
  this.timeout(550_000);

  it('answer exactly, with each step done', () => survives({ app: KILLS, gateway: 0 }, start));

  it('answer exactly, with each step done, when the gateway is killed too', () =>
    survives({ app: KILLS, gateway: Math.ceil(KILLS / 4) }, start));
});
