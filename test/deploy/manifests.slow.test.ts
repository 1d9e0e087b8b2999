import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { DEFAULT_LIMITS } from '../../server/config/limits.js';
import { SILENT_MS } from '../../server/lifecycle/readiness.js';
import { isSharedPlace } from '../../server/runtime/store-at.js';
import { runCliIn } from '../cli/run-cli.js';
import { TOKEN } from '../support/gateway.js';
import { ROOT } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';
import { shipped } from './proxies.js';

const { drainMs, storeMs } = DEFAULT_LIMITS;
/** What a gateway takes at most from SIGTERM to its end. */
const STOP_MS = drainMs + storeMs;
const DOCKERFILE = shipped('Dockerfile');

const PORT = /^EXPOSE (\d+)$/m.exec(DOCKERFILE)![1]!;

describe('deploy/compose.yaml', () => {
  const compose = parse(shipped('deploy/compose.yaml'));

  it('gives a gateway time to stop, a root that it can live with, and files that exist', () => {
    const { gateway, caddy } = compose.services;
    expect(Number(/^(\d+)s$/.exec(gateway.stop_grace_period)![1]) * 1000).to.be.above(STOP_MS);
    expect(gateway.read_only).to.equal(true);
    expect(gateway.volumes).to.include('sessions:/data');
    expect(DOCKERFILE)
      .to.match(/GATEWAY_DB=\/data\//)
      .and.match(/^VOLUME \/data$/m);
    for (const { volumes } of [gateway, caddy]) {
      for (const [source] of volumes.map((it: string) => it.split(':'))) {
        if (source.startsWith('.')) expect(existsSync(join(ROOT, 'deploy', source)), source).to.equal(true);
        else expect(compose.volumes).to.have.property(source);
      }
    }
    expect(existsSync(join(ROOT, 'deploy', gateway.build, 'Dockerfile'))).to.equal(true);
    expect(caddy.environment.GATEWAYS).to.equal(`gateway:${PORT}`);
    expect(shipped('deploy/caddy/Caddyfile')).to.contain('{$SITE:').and.contain('{$GATEWAYS:');
  });
});

describe('deploy/compose.cluster.yaml', () => {
  const compose = parse(shipped('deploy/compose.cluster.yaml'), { merge: true });
  const { redis, nginx, ...gateways } = compose.services;

  it('has the gateways that nginx asks, on one Redis and one folder of files, each with time to stop', () => {
    const names = [...shipped('deploy/nginx/cluster.conf').matchAll(/^ {2}server (\S+):(\d+) /gm)];
    expect(names.map(([, name]) => name)).to.deep.equal(Object.keys(gateways));
    for (const [, name, port] of names) {
      expect(port).to.equal(PORT);
      const gateway = gateways[name!];
      expect(Number(/^(\d+)s$/.exec(gateway.stop_grace_period)![1]) * 1000).to.be.above(STOP_MS);
      expect(gateway).to.include({ read_only: true, build: '..' });
      expect(gateway.expose).to.deep.equal([PORT]);
      const { GATEWAY_DB, GATEWAY_FILES } = gateway.environment;
      expect(isSharedPlace(GATEWAY_DB)).to.equal(true);
      expect(new URL(GATEWAY_DB).hostname).to.equal('redis');
      const [volume] = gateway.volumes.filter((it: string) => it.endsWith(`:${dirname(GATEWAY_FILES)}`));
      expect(compose.volumes).to.have.property(volume.split(':')[0]);
      expect(nginx.depends_on).to.include(name);
    }
    const addresses = Object.values<any>(gateways).map(({ networks }) => networks.default.ipv4_address);
    expect(new Set(addresses)).to.have.length(3);
    for (const [source] of nginx.volumes.map((it: string) => it.split(':')))
      expect(existsSync(join(ROOT, 'deploy', source)), source).to.equal(true);
  });

  it('has a Redis that keeps what was acknowledged, and that nobody else gets at', () => {
    const settings = redis.command.join(' ');
    expect(settings).to.contain('--appendonly yes').and.contain('--maxmemory-policy noeviction');
    expect(redis).to.not.have.property('ports');
    expect(redis.volumes).to.deep.equal(['redis:/data']);
  });
});

describe('deploy/kubernetes', () => {
  const KINDS = ['Deployment', 'PersistentVolumeClaim', 'PodDisruptionBudget', 'Service'] as const;
  const objects = parseAllDocuments(shipped('deploy/kubernetes/gateway.yaml')).map((it) => it.toJS());
  const of = (kind: (typeof KINDS)[number]) => objects.find((it) => it.kind === kind);
  const { spec } = of('Deployment').spec.template;
  const [container] = spec.containers;

  it('has one object of each kind', () => {
    expect(objects.map(({ kind }) => kind)).to.have.members([...KINDS]);
  });

  it('gives a gateway time to stop, and asks it what it answers', () => {
    const asleep = Number(container.lifecycle.preStop.exec.command[1]) * 1000;
    expect(spec.terminationGracePeriodSeconds * 1000).to.be.above(asleep + STOP_MS);
    expect(container.readinessProbe.httpGet.path).to.equal('/readyz');
    expect(container.readinessProbe.timeoutSeconds * 1000).to.be.above(SILENT_MS);
    for (const probe of [container.startupProbe, container.livenessProbe]) {
      expect(probe.httpGet.path).to.equal('/healthz');
    }
    // They reach the port that answers while the gateway is full.
    const monitor = container.ports.find(({ name }: { name: string }) => name === 'monitor').containerPort;
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
      expect(probe.httpGet.port).to.equal('monitor');
    const { GATEWAY_MONITOR_PORT } = Object.fromEntries(
      container.env.map(({ name, value }: { name: string; value?: string }) => [name, value]),
    );
    expect(Number(GATEWAY_MONITOR_PORT)).to.equal(monitor);
  });

  it('runs one at a time on a volume, as the user of the image, without writing elsewhere', () => {
    expect(of('Deployment').spec).to.deep.include({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(container.securityContext.readOnlyRootFilesystem).to.equal(true);
    // The user `node` of the image.
    expect(spec.securityContext).to.include({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
    expect(container.volumeMounts).to.deep.include({ name: 'sessions', mountPath: '/data' });
    expect(container.ports[0].containerPort).to.equal(Number(/^EXPOSE (\d+)$/m.exec(DOCKERFILE)![1]));
    const names = of('Deployment').spec.template.metadata.labels;
    for (const labels of [
      of('Deployment').spec.selector.matchLabels,
      of('PodDisruptionBudget').spec.selector.matchLabels,
      of('Service').spec.selector,
    ]) {
      expect(labels).to.deep.equal(names);
    }
  });
});

describe('deploy/kubernetes, its network and its metrics', () => {
  const [deployment, service] = ['Deployment', 'Service'].map((kind) =>
    parseAllDocuments(shipped('deploy/kubernetes/gateway.yaml'))
      .map((it) => it.toJS())
      .find((it) => it.kind === kind),
  );
  const policy = parse(shipped('deploy/kubernetes/network-policy.yaml'));
  const scraped = parse(shipped('deploy/kubernetes/service-monitor.yaml'));
  const { labels } = deployment.spec.template.metadata;

  it('lets nobody to a port that is not named', () => {
    expect(policy.spec.podSelector.matchLabels).to.deep.equal(labels);
    const named = deployment.spec.template.spec.containers[0].ports.map(({ name }: { name: string }) => name);
    const ports = policy.spec.ingress.flatMap((rule: { ports: { port: string }[] }) => rule.ports);
    expect(ports.map(({ port }: { port: string }) => port)).to.have.members(named);
    for (const { from } of policy.spec.ingress) expect(from).to.have.length(1);
  });

  it('is scraped at the monitoring port, with the token of the gateway', () => {
    const [endpoint] = scraped.spec.endpoints;
    expect(scraped.spec.selector.matchLabels).to.deep.equal(service.metadata.labels);
    expect(service.spec.ports.map(({ name }: { name: string }) => name)).to.include(endpoint.port);
    const { env } = deployment.spec.template.spec.containers[0];
    const token = env.find(({ name }: { name: string }) => name === 'GATEWAY_MONITOR_TOKEN');
    expect(endpoint.authorization.credentials).to.deep.equal(token.valueFrom.secretKeyRef);
    expect(DOCKERFILE).to.contain("'prom-client'");
  });
});

describe('deploy/systemd', () => {
  const FILE = 'deploy/systemd/agent-session-gateway@.service';
  const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(shipped(FILE))![1]!;

  it('is a unit that systemd takes', function () {
    try {
      execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
    } catch {
      console.log('      There is no systemd-analyze');
      this.skip();
    }
    // It wants the program that is started; where that is, differs.
    const folder = tempDir();
    const file = join(folder, 'agent-session-gateway@.service');
    cpSync(join(ROOT, FILE), file);
    execFileSync('sed', ['-i', `s#/usr/bin/node#${process.execPath}#`, file]);
    const { PATH } = process.env;
    expect(execFileSync('systemd-analyze', ['verify', file], { env: { PATH }, encoding: 'utf8' })).to.equal(
      '',
    );
  });

  it('gives a gateway time to stop, and starts it with a command that works', async () => {
    expect(Number(settingOf('TimeoutStopSec')) * 1000).to.be.above(STOP_MS);
    const database = /GATEWAY_DB=(\S+)/.exec(settingOf('Environment'))![1]!;
    expect(dirname(database)).to.equal(`/var/lib/${settingOf('StateDirectory')}`);
    const [node, main, ...args] = settingOf('ExecStart').split(' ');
    expect(node).to.equal('/usr/bin/node');
    expect(main).to.equal('node_modules/agent-session-gateway/dist/server/cli/main.js');
    const folder = tempDir();
    cpSync(join(ROOT, 'deploy/server.js'), join(folder, 'server.js'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const program = runCliIn(folder, args.join(' ').replace('%i', '0').split(' '), {
      GATEWAY_TOKEN: TOKEN,
      GATEWAY_DB: 'kept.db',
      ALLOWED_HOSTS: 'gateway.example',
    });
    const [, url] = await program.prints(/"url":"(http[^"]+)"/);
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    expect(await program.kill('SIGTERM')).to.equal(0);
  });
});
