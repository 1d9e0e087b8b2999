import { expect } from 'chai';
import pg from 'pg';
import { type PostgresStoreOptions, postgresStore } from '../../server/stores/postgres/index.js';
import { SCHEMA_VERSION } from '../../server/stores/postgres/schema.js';
import type { Store } from '../../server/stores/store.js';
import { newTestEpoch, record, records, refOf, refusal, TestWriter } from '../../testing/stores/records.js';
import { describeDaily } from '../support/daily.js';
import { LineNode } from '../support/line-node.js';
import { openStore } from '../support/open-store.js';
import { PgBouncer } from '../support/pgbouncer.js';
import {
  describeWithPostgres,
  newSchema,
  PostgresServer,
  postgresServer,
} from '../support/postgres-server.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const open = async (options: PostgresStoreOptions): Promise<Store> => {
  return openStore(
    postgresStore({
      leaseMs: 600,
      allowEphemeral: true,
      ...options,
      pool: { max: 3, ...options.pool },
    }),
  );
};

/** Why a store could not be opened, and what it says of that. */
async function failure(options: PostgresStoreOptions): Promise<{ reason: unknown; message: string }> {
  try {
    await open(options);
  } catch (error) {
    const { code, details, message } = error as {
      code: string;
      details: { reason: string };
      message: string;
    };
    expect(code).to.equal('STORE_FAILED');
    return { reason: details.reason, message };
  }
  throw new Error('it was opened');
}

describeWithPostgres('a PostgreSQL store', () => {
  describeDaily('is not opened', 2, () => {
    let server: PostgresServer;

    before(async () => {
      server = await postgresServer();
    });

    /** The url of a new database. */
    async function database(setting = '', encoding = 'UTF8'): Promise<string> {
      const name = newSchema();
      await server.sql(`CREATE DATABASE ${name} ENCODING '${encoding}' TEMPLATE template0`);
      if (setting) await server.sql(`ALTER DATABASE ${name} SET ${setting}`);
      return server.url.replace(/postgres$/, name);
    }

    it('where a setting keeps it from keeping its promises, which it names', async () => {
      const safe = closeLater(await PostgresServer.start(), (it) => it.remove());
      await safe.sql('ALTER DATABASE postgres SET synchronous_commit = off');
      const refused = await failure({ url: safe.url, allowEphemeral: false });
      expect(refused).to.include({ reason: 'setting' });
      expect(refused.message).to.include('synchronous_commit = off').and.include('allowEphemeral');
      expect((await open({ url: safe.url, allowEphemeral: true })).durability).to.equal('process');
      await safe.sql('ALTER DATABASE postgres RESET synchronous_commit');
      expect((await open({ url: safe.url, allowEphemeral: false })).durability).to.equal('disk');
      // The server that tests share forgets what it is told to.
      const { message } = await failure({ url: server.url, allowEphemeral: false });
      expect(message).to.include('fsync = off');
    });

    it('where every transaction sees the past', async () => {
      const url = await database("default_transaction_isolation = 'repeatable read'");
      const { reason, message } = await failure({ url });
      expect(reason).to.equal('setting');
      expect(message).to.include('default_transaction_isolation');
    });

    it('where a database is not in UTF8, or only read', async () => {
      const { message } = await failure({ url: await database('', 'SQL_ASCII') });
      expect(message).to.include('UTF8');
      const { reason } = await failure({ url: await database('default_transaction_read_only = on') });
      expect(reason).to.equal('unwritable');
    });

    it('where its schema is of another program or of another version', async () => {
      const schema = newSchema();
      await server.sql(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.theirs ()`);
      expect(await failure({ url: server.url, schema })).to.include({ reason: 'foreign' });
      await server.sql(`DROP SCHEMA ${schema} CASCADE`);
      await (await open({ url: server.url, schema })).close();
      for (const version of [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1]) {
        await server.sql(`UPDATE ${schema}.meta SET value = '${version}' WHERE name = 'version'`);
        const other = await failure({ url: server.url, schema });
        expect(other.reason).to.equal('schema');
        expect(other.message).to.include(`(${version}, not ${SCHEMA_VERSION})`);
      }
      await server.sql(`UPDATE ${schema}.meta SET value = '${SCHEMA_VERSION}' WHERE name = 'version'`);
      await (await open({ url: server.url, schema })).close();
      await server.sql(`UPDATE ${schema}.meta SET value = 'another' WHERE name = 'made'`);
      const { reason, message } = await failure({ url: server.url, schema });
      expect(reason).to.equal('schema');
      expect(message).to.include(`(version ${SCHEMA_VERSION} with other tables or functions)`);
    });

    it('where nobody answers, or refuses', async () => {
      expect(await failure({ url: server.urlAt(1) })).to.include({ reason: 'unreachable' });
      const nowhere = server.url.replace(/postgres$/, 'nowhere');
      expect(await failure({ url: nowhere })).to.include({ reason: 'unwritable' });
    });

    it('where notifications do not come', async () => {
      const listenUrl = await database();
      const { reason, message } = await failure({ url: server.url, schema: newSchema(), listenUrl });
      expect(reason).to.equal('deaf');
      expect(message).to.include('listenUrl');
    });

    it('behind a pooler in transaction mode, unless notifications go past it', async function () {
      const bouncer = await PgBouncer.start(server);
      if (!bouncer) return this.skip();
      const schema = newSchema();
      expect(await failure({ url: bouncer.url, schema })).to.include({ reason: 'deaf' });
      const [a, b] = [
        await open({ url: bouncer.url, listenUrl: server.url, schema }),
        await open({ url: bouncer.url, listenUrl: server.url, schema }),
      ];
      let woken = 0;
      closeLater(
        b.watch(refOf(), () => woken++),
        (stop) => stop(),
      );
      await until(() => woken > 0);
      const writer = await TestWriter.acquire(a, refOf());
      const before = woken;
      await writer.append(records(1, 3));
      await until(() => woken > before);
      expect(await b.read(writer.log, 0, 9, 9999)).to.have.length(3);
    });
  });

  describeDaily('whose line breaks', 2, () => {
    let server: PostgresServer;
    let schema: string;

    beforeEach(async () => {
      server = await postgresServer();
      schema = newSchema();
    });

    const node = async (options: Partial<PostgresStoreOptions> = {}): Promise<LineNode> => {
      const made = await LineNode.start(server.url, (port) =>
        postgresStore({ url: server.urlAt(port), schema, leaseMs: 600, allowEphemeral: true, ...options }),
      );
      await made.store.open();
      return closeLater(made, (it) => it.end());
    };
    const headOf = async (): Promise<number> =>
      Number((await server.sql(`SELECT max(head) AS head FROM ${schema}.log`))[0]!.head);

    it('does not know what became of an append that was not answered, and writes it once', async () => {
      const { store, line } = await node();
      const writer = await TestWriter.acquire(store, refOf());
      await writer.append(records(1, 1));
      const opens = { runId: 'run_1', key: 'k', hash: 'h', request: '{}' };
      line.hush('down');
      const lost = refusal(() => writer.append(records(2, 3), { opens }));
      await until(async () => (await headOf()) === 3);
      line.cut();
      expect(await lost).to.equal('UNKNOWN');
      writer.batch -= 1;
      const again = await writer.append(records(2, 3), { opens });
      expect(again).to.deep.equal({ epoch: writer.log.epoch, first: 2, last: 3 });
      expect(await writer.seqs()).to.deep.equal([1, 2, 3]);
    });

    it('knows that nothing was written where nobody could be reached, and goes on once somebody can', async () => {
      const own = closeLater(await PostgresServer.start({ fsync: 'off' }), (it) => it.remove());
      const store = await open({ url: own.url });
      const writer = await TestWriter.acquire(store, refOf());
      await own.stop();
      await refusal(() => store.head(refOf()));
      expect(await refusal(() => writer.append(records(1, 1)))).to.equal('UNAVAILABLE');
      await own.run();
      writer.batch -= 1;
      await until(async () => (await refusalOf(() => store.check!())) === null);
      expect(await writer.append(records(1, 1))).to.include({ first: 1 });
    });

    it('says whom it follows in linear time, however many they are', async () => {
      await node();
      const took = async (count: number): Promise<number> => {
        const keys = `(SELECT array_agg('a key of some length ' || i) FROM generate_series(1, ${count}) i)`;
        const register = `SELECT ${schema}.register('me', 60000, '{}', ${keys})`;
        await server.sql(register);
        const begun = performance.now();
        await server.sql(`SET plan_cache_mode = force_generic_plan; ${register}`);
        return performance.now() - begun;
      };
      const few = await took(1000);
      // Sixteen times as many took a hundred times as long and more.
      expect((await took(16_000)) / few).to.be.below(35);
    });

    it('judges nobody for a lease after it begins: a standby that was promoted knows leases as old as its copy', async () => {
      const leaseMs = 1500;
      const old = await node({ leaseMs });
      await old.store.shared!.join({ holder: 'a', hear() {}, away() {}, lapsed() {} });
      const acquired = await old.store.acquire(refOf(), {
        holder: 'a',
        create: { epoch: newTestEpoch() },
      });
      const { epoch, term } = (acquired as Extract<typeof acquired, { kind: 'acquired' }>).head;
      const opens = { runId: 'run_1', request: '{}' };
      await old.store.append({ ...refOf(), epoch }, records(1, 1), { term, batch: 1, opens });
      // Whoever has just begun is judged by no one anyway.
      await until(async () => {
        const age = 'SELECT extract(epoch FROM now() - pg_postmaster_start_time()) * 1000 AS ms';
        return Number((await server.sql(age))[0]!.ms) > 2 * leaseMs;
      });
      old.freeze();
      await server.sql(`UPDATE ${schema}.node SET until = now() - interval '1 hour'`);
      const { store } = await node({ leaseMs });
      const judge = await store.shared!.join({ holder: 'b', hear() {}, away() {}, lapsed() {} });
      expect(await store.unfinished()).to.deep.equal([]);
      expect(await judge.members()).to.include('a');
      await until(async () => (await store.unfinished()).length === 1);
      expect(await judge.members()).to.not.include('a');
    });

    it('that stands still does not keep the server from forgetting what it told the others', async () => {
      const { line } = await node();
      const [{ id }] = (await server.sql(`SELECT id FROM ${schema}.node`)) as [{ id: string }];
      const listeners = `SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN "asg_${id}"'`;
      const [{ pid }] = (await server.sql(listeners)) as [{ pid: number }];
      // A byte a second: what comes next is not taken.
      line.rate = 1;
      await until(async () => {
        await server.sql(
          `SELECT pg_notify('asg_${id}', i || repeat('x', 7000)) FROM generate_series(1, 1000) AS i`,
        );
        const pids = (await server.sql('SELECT pid FROM pg_stat_activity')).map((row) => row.pid);
        return !pids.includes(pid);
      });
    });

    it('says again whom it follows after a crash of the server, which may forget that', async () => {
      const own = closeLater(await PostgresServer.start({ fsync: 'off' }), (it) => it.remove());
      const [a, b] = [await open({ url: own.url }), await open({ url: own.url })];
      const writer = await TestWriter.acquire(a, refOf());
      let head = 0;
      let wakes = 0;
      const look = async (): Promise<void> => {
        wakes += 1;
        try {
          head = Math.max(head, (await b.head(refOf()))?.head ?? 0);
        } catch {
          // The server is away, and it is woken once that is back.
        }
      };
      closeLater(
        b.watch(refOf(), () => void look()),
        (stop) => stop(),
      );
      await until(() => wakes > 0);
      await own.stop('SIGQUIT');
      const before = wakes;
      await own.run();
      expect(await own.sql('SELECT * FROM agent_session_gateway.follower')).to.have.length.at.most(1);
      await until(() => wakes > before);
      await writer.append(records(1, 1));
      await until(() => head === 1);
    });

    it('judges nobody dead until a lease after it was cut off itself', async () => {
      const [a, b] = [await node(), await node()];
      const join = (store: Store, holder: string) =>
        store.shared!.join({ holder, hear() {}, away() {}, lapsed() {} });
      const [members] = [await join(a.store, 'a'), await join(b.store, 'b')];
      await TestWriter.acquire(b.store, refOf(), undefined, 'b').then((writer) =>
        writer.append([record(1)], { opens: { runId: 'r', request: '{}' } }),
      );
      for (const each of [a, b]) each.kill();
      await until(
        async () => (await server.sql(`SELECT FROM ${schema}.node WHERE until > now()`)).length === 0,
      );
      a.thaw();
      await until(
        async () => (await server.sql(`SELECT FROM ${schema}.node WHERE until > now()`)).length === 1,
      );
      // What it was told first, it was told before the other one could be back.
      expect(await members.members()).to.include('b');
      expect(await a.store.unfinished()).to.deep.equal([]);
      await until(async () => !(await members.members()).includes('b'));
      expect(await a.store.unfinished()).to.deep.equal([{ ...refOf(), from: 'b' }]);
    });

    it('has the members that it says it has, also where an older list of them comes last', async () => {
      const { store } = await node({ leaseMs: 60_000 });
      const [{ id }] = (await server.sql(`SELECT id FROM ${schema}.node`)) as [{ id: string }];
      /** Whether all of the node is being said, and waits for that where this is asked. */
      const isSaying = async (that = ''): Promise<boolean> => {
        const saying = `SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%.register(%' ${that}`;
        return (await server.sql(`${saying} AND pid <> pg_backend_pid()`)).length > 0;
      };
      const holders = async (): Promise<readonly string[]> =>
        (await server.sql(`SELECT holder FROM ${schema}.member`)).map((row) => row.holder);
      const join = () => store.shared!.join({ holder: 'a', hear() {}, away() {}, lapsed() {} });
      /** Has all of the node said again, and what is done meanwhile overtake that. */
      async function overtaking<T>(work: () => T): Promise<Awaited<T>> {
        const locker = closeLater(new pg.Client({ connectionString: server.url }), (it) => it.end());
        await locker.connect();
        await locker.query(`BEGIN; SELECT FROM ${schema}.node WHERE id = '${id}' FOR UPDATE`);
        await server.sql(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN "asg_${id}"'`,
        );
        await until(() => isSaying("AND wait_event_type = 'Lock'"));
        const done = await work();
        await locker.query('COMMIT');
        await until(async () => !(await isSaying()));
        return done;
      }

      const membership = await overtaking(join);
      await until(async () => (await holders()).includes('a'));
      await overtaking(() => membership.leave());
      await until(async () => (await holders()).length === 0);
    });

    it('has nobody as a member whose joining was refused, also where a list of them is on its way', async () => {
      const { store } = await node({ leaseMs: 60_000 });
      const [{ id }] = (await server.sql(`SELECT id FROM ${schema}.node`)) as [{ id: string }];
      const waits = async (name: string): Promise<boolean> =>
        (
          await server.sql(`SELECT FROM pg_stat_activity WHERE query LIKE '%.${name}(%'
            AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`)
        ).length > 0;
      const locking = async (lock: string): Promise<pg.Client> => {
        const locker = closeLater(new pg.Client({ connectionString: server.url }), (it) => it.end());
        await locker.connect();
        await locker.query(`BEGIN; ${lock}`);
        return locker;
      };
      await server.sql(`CREATE OR REPLACE FUNCTION ${schema}.join_member(me text, p_holder text) RETURNS void LANGUAGE plpgsql AS
        $q$BEGIN PERFORM pg_advisory_xact_lock(29); RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END$q$`);
      const refusing = await locking('SELECT pg_advisory_xact_lock(29)');
      const registering = await locking(`SELECT FROM ${schema}.node WHERE id = '${id}' FOR UPDATE`);
      const join = () => store.shared!.join({ holder: 'a', hear() {}, away() {}, lapsed() {} });
      let isOver = false;
      const joining = refusal(join).finally(() => (isOver = true));
      await until(() => waits('join_member'));
      await server.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN "asg_${id}"'`,
      );
      await until(() => waits('register'));
      await refusing.query('COMMIT');
      await until(async () => !(await waits('join_member')));
      expect(isOver, 'it is not known before the list is there').to.equal(false);
      await registering.query('COMMIT');
      expect(await joining).to.equal('UNAVAILABLE');
      expect(await server.sql(`SELECT holder FROM ${schema}.member`)).to.deep.equal([]);
    });

    it('loses no message of a size that a notification does not have, and keeps the order', async () => {
      const [a, b] = [await node(), await node()];
      const heard: string[] = [];
      await b.store.shared!.join({
        holder: 'b',
        hear: (message) => heard.push(message),
        away() {},
        lapsed() {},
      });
      const { tell } = await a.store.shared!.join({ holder: 'a', hear() {}, away() {}, lapsed() {} });
      const sent = [10, 100_000, 20, 7890, 8000, 30, 1_000_000, 40].map((size, i) =>
        `${i}`.padEnd(size, 'ä'),
      );
      expect(await Promise.all(sent.map((message) => tell('b', message)))).to.not.include(false);
      await until(() => heard.length === sent.length);
      expect(heard.map((message) => message.length)).to.deep.equal(sent.map((message) => message.length));
      expect(heard).to.deep.equal(sent);
    });
  });

  it('may be opened by many at once, which make its schema once', async () => {
    const { url } = await postgresServer();
    const schema = newSchema();
    const stores = await Promise.all([1, 2, 3, 4].map(() => open({ url, schema })));
    await TestWriter.acquire(stores[0]!, refOf());
    for (const store of stores) expect(await store.head(refOf())).to.include({ head: 0 });
  });

  it('takes text that PostgreSQL does not', async () => {
    const { url } = await postgresServer();
    const schema = newSchema();
    const store = await open({ url, schema });
    const odd = 'a\0b\ud800"\\\n';
    const ref = refOf(odd, odd, odd);
    const create = { epoch: newTestEpoch(), userId: odd };
    const writer = await TestWriter.acquire(store, ref, create, odd);
    const opens = { runId: odd, key: odd, hash: 'h', request: JSON.stringify(odd) };
    await writer.append([record(1, 'message_accepted')], {
      opens,
      about: { title: odd, metadata: { [odd]: odd }, messageCount: 1, pending: 0 },
    });
    expect(await store.run(ref, { key: odd })).to.include({ runId: odd, key: odd });
    expect((await store.list(odd, { limit: 1 }, { query: 'b\ud800"' })).records[0]).to.include({
      title: odd,
    });
    expect(await store.kept(odd, { limit: 9 })).to.deep.equal([ref]);
    expect(await store.acquire(ref, { holder: 'b' })).to.deep.equal({ kind: 'owned', holder: odd });
  });

  it('writes what others append beside one that the server refuses', async () => {
    const { url } = await postgresServer();
    const store = await open({ url, schema: newSchema() });
    const writers: TestWriter[] = [];
    for (const name of ['a', 'b', 'c']) writers.push(await TestWriter.acquire(store, refOf(name)));
    const refused = { ...record(1), body: '"\0"' };
    const appends = writers.map((writer, i) => writer.append([i === 1 ? refused : record(1)]));
    const settled = await Promise.allSettled(appends);
    expect(settled.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect((settled[1] as PromiseRejectedResult).reason).to.include({ code: 'REFUSED' });
    writers[1]!.batch -= 1;
    expect(await writers[1]!.append(records(1, 1))).to.include({ first: 1 });
  });

  it('writes, and keeps its lease, while all that read wait for a table', async () => {
    const server = await postgresServer();
    const schema = newSchema();
    const [a, b] = [await open({ url: server.url, schema }), await open({ url: server.url, schema })];
    let isLost = false;
    const heard: string[] = [];
    const join = (store: Store, holder: string) =>
      store.shared!.join({
        holder,
        hear: (message) => heard.push(message),
        away() {},
        lapsed: () => (isLost = true),
      });
    const [members] = [await join(a, 'a'), await join(b, 'b')];
    const writer = await TestWriter.acquire(a, refOf(), undefined, 'a');
    await writer.append([record(1)], { opens: { runId: 'r', request: '{}' } });
    // Six leases, with twice as many readers as there are connections for them.
    const locked = server.sql(
      `BEGIN; LOCK TABLE ${schema}.message IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3.6); COMMIT`,
    );
    await until(
      async () =>
        (await server.sql("SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted")).length > 0,
    );
    let waiting = 6;
    const readers = Array.from({ length: waiting }, async () => {
      await a.replies(writer.log, null);
      waiting -= 1;
    });
    let seq = 1;
    let isOver = false;
    void locked.then(() => (isOver = true));
    while (!isOver) {
      seq += 1;
      await writer.append(records(seq, seq));
      expect(await members.tell('b', `${seq}`)).to.equal(true);
      expect(await b.unfinished()).to.deep.equal([]);
      if (seq === 3) expect(waiting, 'readers that wait').to.equal(6);
    }
    await Promise.all(readers);
    expect(isLost).to.equal(false);
    expect(seq).to.be.greaterThan(5);
    await until(() => heard.length === seq - 1);
    expect(await b.acquire(refOf(), { holder: 'b' })).to.include({ kind: 'owned' });
  });

  it('is written by two gateways at once without either waiting for ever', async () => {
    const { url } = await postgresServer();
    const schema = newSchema();
    const stores = [await open({ url, schema }), await open({ url, schema })];
    const names = Array.from({ length: 12 }, (_, i) => `s${i}`);
    const writers = await Promise.all(
      names.map((name, i) => TestWriter.acquire(stores[i % 2]!, refOf(name), undefined, `gw_${i % 2}`)),
    );
    // Each also loses its sessions to the other one meanwhile.
    const write = async (writer: TestWriter): Promise<number> => {
      let written = 0;
      for (let i = 1; i <= 20; i++) {
        const about = { messageCount: i, pending: 0, usedAt: Date.now() };
        const failed = await refusalOf(() => writer.append(records(i, i), { about }));
        if (failed) return expect(failed).to.equal('FENCED') && written;
        written += 1;
      }
      return written;
    };
    const take = (name: string, i: number) =>
      stores[(i + 1) % 2]!.acquire(refOf(name), { holder: `gw_${(i + 1) % 2}`, from: `gw_${i % 2}` });
    const [counts] = await Promise.all([
      Promise.all(writers.map(write)),
      Promise.all(names.slice(0, 6).map(take)),
    ]);
    for (const [i, writer] of writers.entries()) {
      expect(await writer.seqs()).to.have.length(counts[i]!);
      if (i >= 6) expect(counts[i]).to.equal(20);
    }
  });
});

/** The code a call is refused with; null where it is not. */
async function refusalOf(call: () => unknown): Promise<string | null> {
  try {
    await call();
    return null;
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}
