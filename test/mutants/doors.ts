import type { Mutant } from './mutant.js';

const CALL = 'server/methods/call.ts';
const START = 'server/delivery/start.ts';
const TRACK = 'client/track.ts';
const JWT = 'server/auth/jwt.ts';

/** Broken ways in and out: who may, how much, what readers are told, files, other protocols, the client. */
export const DOORS: readonly Mutant[] = [
  {
    name: 'what waits is taken twice',
    file: 'server/plugins/conversation/waits.ts',
    edits: [['ttlMs: this.#ttlMs, once: true }', 'ttlMs: this.#ttlMs }']],
    test: 'test/plugins/conversation/waits.test.ts',
  },
  {
    name: 'a guard that is waited for without an end',
    file: CALL,
    edits: [['settleWithin(answer, guardMs,', 'settleWithin(answer, Number.POSITIVE_INFINITY,']],
    test: 'test/security/row-26-guard-order.test.ts',
    grep: 'silent',
  },
  {
    name: 'a token for somebody else',
    file: JWT,
    edits: [
      [
        "if (auth.audience !== undefined && !isAddressedTo(payload.aud, auth.audience)) return refuse('aud');",
        '',
      ],
    ],
    test: 'test/auth/jwt.test.ts',
  },
  {
    name: 'a token of another issuer',
    file: JWT,
    edits: [
      ["if (auth.issuer !== undefined && !isOneOf(payload.iss, auth.issuer)) return refuse('iss');", ''],
    ],
    test: 'test/auth/jwt.test.ts',
  },
  {
    name: 'users of two tenants who are one',
    file: 'server/auth/scope.ts',
    edits: [['JSON.stringify([tenantId ?? null, id])', 'JSON.stringify([null, id])']],
    test: 'test/auth/scope.test.ts',
  },
  {
    name: 'roles that are not asked for',
    file: CALL,
    edits: [['if (roles && !holdsAnyRole(context.user, roles)) {', 'if (false) {']],
    test: 'test/methods/call.test.ts',
  },
  {
    name: 'a guard that throws and allows',
    file: CALL,
    edits: [
      [
        '  } catch (cause) {\n    throw denial(path, cause);\n  }\n  if (!isPromise(answer))',
        '  } catch {\n    answer = true;\n  }\n  if (!isPromise(answer))',
      ],
    ],
    test: 'test/methods/call.test.ts',
  },
  {
    name: 'a guard that says anything',
    file: CALL,
    edits: [['if (answer !== true) throw denial(path);', 'if (!answer) throw denial(path);']],
    test: 'test/methods/call.test.ts',
  },
  {
    name: 'a tool filter that fails and shows all',
    file: 'server/plugins/mcp/catalogue.ts',
    edits: [
      [
        "throw new GuardError({ guardType: 'custom', message: 'The tools of this server were denied', cause });",
        'return this.#all;',
      ],
    ],
    test: 'test/plugins/mcp/access.test.ts',
  },
  {
    name: 'rates without an end',
    file: 'server/limits/token-bucket.ts',
    edits: [['    bucket.tokens -= taken;\n', '']],
    test: 'test/limits/token-bucket.test.ts',
  },
  {
    name: 'bodies of any size',
    file: 'server/transports/http/body.ts',
    edits: [
      ['if (pieces.length + chunk.length > bounds.maxBytes) stopped(tooLarge(bounds));\n    else ', ''],
    ],
    test: 'test/transports/http/bodies.test.ts',
  },
  {
    name: 'a reader that is never too slow',
    file: 'server/delivery/stall.ts',
    edits: [['return now - this.#since > limitMs;', 'return false;']],
    test: 'test/transports/frames/socket-client.test.ts',
    grep: 'reads nothing',
  },
  {
    name: 'a cursor of another conversation',
    file: START,
    edits: [['if (log && cursor.epoch === log.ref.epoch) return inLog', 'if (log) return inLog']],
    test: 'test/props/cursors.test.ts',
  },
  {
    name: 'events that were cut, passed over',
    file: START,
    edits: [["if (seq < log.first - 1) return 'evicted';", '']],
    test: 'test/delivery/subscription.test.ts',
  },
  {
    name: 'an end that was lost, and written anew',
    file: START,
    edits: [["if (seq === 0 || term === log.termAt(seq)) return 'exact';", "return 'exact';"]],
    test: 'test/durable/restored.test.ts',
  },
  {
    name: 'a long log in one turn',
    file: 'server/delivery/pages.ts',
    edits: [['if (spent < TURN_CHARS) return null;', 'if (spent >= 0) return null;']],
    test: 'test/delivery/long-logs.test.ts',
  },
  {
    name: 'a file of anybody',
    file: 'server/operations/file-operations.ts',
    edits: [
      [
        'if (!record || !(await this.#mayRead(record, person))) throw fileNotFound(fileId, path);',
        'if (!record) throw fileNotFound(fileId, path);',
      ],
    ],
    test: 'test/files/messages.test.ts',
  },
  {
    name: 'a part of a file that is short of a byte',
    file: 'server/transports/http/file-headers.ts',
    edits: [['Math.min(Number(to), size - 1)', 'Math.min(Number(to), size - 1) - 1']],
    test: 'test/files/routes.test.ts',
  },
  {
    name: 'a page of somebody else that is shown',
    file: 'server/transports/http/file-headers.ts',
    edits: [['|text\\/plain)$/', '|text\\/(?:plain|html))$/']],
    test: 'test/files/routes.test.ts',
  },
  {
    name: 'files without a quota',
    file: 'server/files/uploads.ts',
    edits: [['if (used + more <= allowed) return;', 'if (used + more >= 0) return;']],
    test: 'test/files/routes.test.ts',
  },
  {
    name: 'a completion that does not say that it is done',
    file: 'server/plugins/chat-completions/completions.ts',
    edits: [['data: [DONE]\\n\\n', '']],
    test: 'test/plugins/chat-completions/stream.test.ts',
  },
  {
    name: 'an agent whose client is not brought in line',
    file: 'shared/ag-ui/stream.ts',
    edits: [['return isFirst && this.#isTold ? [...this.#preface(), ...events] : events;', 'return events;']],
    test: 'test/plugins/ag-ui/routes.test.ts',
  },
  {
    name: 'a client that sees no hole',
    file: TRACK,
    edits: [['        if (isAfter(place, { ...wire, seq: wire.seq + (count ?? 1) })) return;\n', '']],
    test: 'test/client/events.test.ts',
  },
  {
    name: 'a client that sees events twice',
    file: TRACK,
    edits: [['        if (!isAfter(place, wire)) return false;\n', '']],
    test: 'test/client/events.test.ts',
  },
  {
    name: 'a move that is made again',
    file: 'client/call.ts',
    edits: [["(isCall(operation, 'once') && !mayHaveArrived)", "isCall(operation, 'once')"]],
    test: 'test/client/history.test.ts',
  },
  {
    name: 'an acceptance by somebody else',
    file: 'client/call.ts',
    edits: [["throw foreign(addressOf(transport), 'not with a run');", 'onAnswer();']],
    test: 'test/client/faults.slow.test.ts',
    grep: 'in the place of the gateway',
  },
  {
    name: 'a message that is sent when its key is forgotten',
    file: 'client/offline/unsent.ts',
    edits: [['const isLate = Date.now() - unsent.at > lifeMs;', 'const isLate = false;']],
    test: 'test/client/offline/unsent.test.ts',
  },
  {
    name: 'a send that a shutdown does not wait for',
    file: 'server/operations/open-calls.ts',
    edits: [['    this.#sends.add(answered);\n', '']],
    test: 'test/cluster/drain.test.ts',
  },
  {
    name: 'a run that nobody is told of once it is handed over',
    file: 'server/sessions/hold.ts',
    edits: [['if (session.viewers.watching) session.reader.resume(view);', '']],
    test: 'test/cluster/drain.test.ts',
  },
  {
    name: 'a sender that left early and counts as waiting',
    file: 'server/transports/http/run-route.ts',
    edits: [['    if (response.closed) leave();\n    else response', '    response']],
    test: 'test/sessions/departure.test.ts',
  },
];
