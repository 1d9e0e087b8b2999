import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../shared/errors.js';
import { asks } from '../apps/check-app.js';
import { isOf } from '../apps/versions.js';
import { within } from '../async/deadline.js';
import { isPromise } from '../async/maybe-promise.js';
import type { ParsedConfig } from '../config/parse.js';
import { drainSessions } from '../sessions/drain.js';
import type { Assembly } from './assembly.js';
import { Doors, type StartedGateway } from './doors.js';

const SWEEP_MS = 30_000;
const FILE_SWEEP_MS = 10 * 60_000;
const RUN_AGE_MS = 24 * 3_600_000;
/** Time to find out whether there are other gateways, in milliseconds. */
const OTHERS_MS = 500;
/** Time for responses to finish once all runs have ended, in milliseconds. */
const CLOSE_GRACE_MS = 1000;

/** The life of a gateway: opens the store, starts the plugins, listens, sweeps, drains and closes. */
export class GatewayLife {
  readonly #parts: Assembly;
  readonly #doors: Doors;
  #opening: Promise<void> | null = null;
  #recovered: Promise<void> = Promise.resolve();
  /** Resolves once the starting plugins have started, because they listen for runs that are taken up again. */
  #listening: Promise<void> = Promise.resolve();
  #started: Promise<StartedGateway> | null = null;
  #sweeper: NodeJS.Timeout | undefined;
  #expiring: Promise<void> | null = null;
  #fileSweeper: NodeJS.Timeout | undefined;
  #closed: Promise<void> | null = null;

  constructor(parts: Assembly) {
    this.#parts = parts;
    this.#doors = new Doors(parts);
  }

  start(): Promise<StartedGateway> {
    if (this.#closed) return Promise.reject(closedForGood());
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = null;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<StartedGateway> {
    const { config, lifecycle, plugins } = this.#parts;
    let begun = (): void => {};
    this.#listening = new Promise((resolve) => {
      begun = resolve;
    });
    // The first to answer and the last: it tells why the others do not.
    const opened = this.#parts.monitor.open();
    try {
      await Promise.all([opened, this.ready()]);
      await plugins.start();
    } finally {
      begun();
    }
    const monitor = await opened;
    const started = { ...(await this.#doors.open()), ...(monitor !== undefined && { monitor }) };
    config.logger.info({ gateway: config.id, ...started }, 'the gateway has started');
    for (const [name, app] of this.#parts.apps.entries())
      if (keepsRuns(config) && asks(app) && !app.resumable)
        config.logger.warn(
          { gateway: config.id, app: name },
          `the app ${name} asks people and is not resumable: its runs that wait for an answer are lost with the process`,
        );
    lifecycle.emit('started', started.url === undefined ? {} : { url: started.url });
    return started;
  }

  /** Opens the store on first use; null once it is open. */
  ready(): Promise<void> | null {
    if (this.#parts.state.open) return null;
    if (this.#closed) return Promise.reject(closedForGood());
    this.#opening ??= this.#openStore();
    return this.#opening;
  }

  /** Opens the store for a caller, whose error does not tell what is wrong with it. */
  readyForRequests(): Promise<void> | null {
    return (
      this.ready()?.catch((error: unknown) => {
        if (this.#closed) throw closedForGood();
        this.#parts.report(error, 'opening the store');
        throw new GatewayError({
          code: 'OVERLOADED',
          message: 'The store cannot be opened',
          retryAfterMs: 1000,
          cause: error,
        });
      }) ?? null
    );
  }

  async #openStore(): Promise<void> {
    const {
      config,
      sessions,
      files,
      eraser,
      due,
      features,
      apps,
      readiness,
      report,
      now: clock,
    } = this.#parts;
    try {
      const opened = config.store.open();
      if (isPromise(opened)) await opened;
      await sessions.join(
        ({ app }, version) =>
          !this.#closed && apps.has(app) && (version === undefined || isOf(apps.get(app), version)),
      );
      // Finish erasures before any of their data is taken up again, or seen.
      await eraser.resume();
      this.#parts.state.open = true;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
    const look = async (): Promise<void> => {
      if (!this.#closed) await Promise.all(features.map((feature) => feature.look?.()));
    };
    this.#parts.load.start();
    this.#parts.heap.start();
    this.#recovered = this.#listening
      .then(() => due.start())
      .then(() => sessions.recover(() => this.#closed !== null))
      .then(() => look())
      .catch((error: unknown) => report(error, 'recovering sessions'));
    this.#sweeper = setInterval(() => {
      sessions.sweep().catch((error: unknown) => report(error, 'sweeping sessions'));
      this.#parts.trail.sweep().catch((error: unknown) => report(error, 'sweeping the audit trail'));
      void eraser.resume();
      void look();
      // Nobody may ask for it, and a file that was removed fails no write.
      void readiness.look();
      const before = clock() - Math.max(RUN_AGE_MS, config.limits.retention.ageMs);
      // A store takes its time for it, so the last round may still be under way.
      this.#expiring ??= Promise.resolve()
        .then(() => config.store.expire(before))
        .catch((error: unknown) => report(error, 'expiring records'))
        .finally(() => {
          this.#expiring = null;
        });
    }, SWEEP_MS).unref();
    this.#fileSweeper = setInterval(
      () => files.sweep().catch((error: unknown) => report(error, 'sweeping files')),
      Math.min(FILE_SWEEP_MS, Math.max(50, config.limits.unnamedFileMs / 4)),
    ).unref();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { config, state, connections, calls, due, features, sessions, plugins, lifecycle } = this.#parts;
    await this.#leaveBalancers();
    if (state.open && config.store.shared) await this.#leavePort();
    state.draining = true;
    config.logger.info({ gateway: config.id }, 'the gateway drains');
    await this.#started?.catch(() => {});
    // Let an opening that a first request caused finish, then close the store with the rest.
    await this.#opening?.catch(() => {});
    connections.drain();
    for (const { drain } of features) drain?.();
    const drained = plugins.drain();
    const { storeMs } = config.limits;
    await within(this.#recovered, storeMs);
    await due.stop(storeMs, Math.min(storeMs, config.limits.drainMs));
    for (const feature of features) feature.close?.();
    await drainSessions(sessions, {
      drainMs: config.limits.drainMs,
      storeMs,
      handOver: keepsRuns(config),
      others: Promise.all([calls.idle(), drained]).then(() => {}),
      answers: () => calls.areWaiting,
      tells: () => connections.tellOfRuns,
    });
    calls.endStreams(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 }));
    await sessions.leave();
    connections.endAll();
    await plugins.destroy();
    await this.#doors.close(CLOSE_GRACE_MS);
    this.#parts.load.stop();
    this.#parts.heap.stop();
    this.#parts.overload.stop();
    clearInterval(this.#sweeper);
    clearInterval(this.#fileSweeper);
    if (state.open) {
      await within(this.#parts.trail.settled(), storeMs);
      await this.#closeStore();
    }
    await this.#parts.monitor.close();
    this.#parts.stopLog();
    config.logger.info({ gateway: config.id }, 'the gateway has stopped');
    lifecycle.emit('stopped', {});
  }

  /** Takes no more connections, if other gateways do. Requests over the last ones are served as before: a proxy cannot ask elsewhere. */
  async #leavePort(): Promise<void> {
    // Without other gateways, answers to open questions have to come here.
    const others = this.#parts.sessions.cluster.hasOthers();
    if ((await within(others, OTHERS_MS)) && (await others)) await this.#doors.takeNoMore();
  }

  /** Serves on while balancers learn from `/readyz` that others should get the new clients. */
  async #leaveBalancers(): Promise<void> {
    const { config, state } = this.#parts;
    const { lameDuckMs } = config.limits;
    if (lameDuckMs === 0 || !this.#started) return;
    state.lameDuck = true;
    config.logger.info({ gateway: config.id, lameDuckMs }, 'the gateway takes no new clients');
    await delay(lameDuckMs);
  }

  async #closeStore(): Promise<void> {
    const { config, report } = this.#parts;
    try {
      const closed = await within(Promise.resolve(config.store.close()), config.limits.storeMs);
      if (!closed) throw new GatewayError({ code: 'TIMEOUT', message: 'The store did not close in time' });
    } catch (error) {
      report(error, 'closing the store');
    }
  }
}

/** Whether the store passes unfinished runs on, to another gateway or the next process. */
export const keepsRuns = ({ store }: Pick<ParsedConfig, 'store'>): boolean =>
  store.shared !== undefined || store.durability !== 'memory';

function closedForGood(): GatewayError {
  return new GatewayError({
    code: 'SHUTTING_DOWN',
    message: 'The gateway was closed and does not start again; make another one',
    retryable: false,
  });
}
