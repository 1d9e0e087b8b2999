import { createHash } from 'node:crypto';

/** A script with its keys and arguments, as it is sent. */
export interface ScriptCall {
  readonly script: Pick<Script, 'source' | 'hash' | 'writes'>;
  /** The key by which a cluster finds the node. */
  readonly key: string;
  readonly words: readonly string[];
}

/** Keys and arguments without names, which follow those with names. */
interface Rest {
  readonly keys?: readonly string[];
  readonly args?: readonly string[];
}

/** The part by which a script writes also while Redis has no room (`maxmemory`). */
export const WHEN_FULL = '#!lua flags=allow-oom';

/**
 * A Lua script, which Redis runs as one atomic step. Its keys and arguments have names, which callers use, and which are local variables of
 * the script.
 */
export class Script<Key extends string = string, Arg extends string = string> {
  readonly source: string;
  readonly hash: string;
  /** Whether it changes anything. */
  readonly writes: boolean = true;
  readonly #keys: readonly Key[];
  readonly #args: readonly Arg[];

  constructor(keys: readonly Key[], args: readonly Arg[], ...parts: readonly string[]) {
    this.#keys = keys;
    this.#args = args;
    const flags = parts.filter((part) => part === WHEN_FULL);
    const rest = parts.filter((part) => part !== WHEN_FULL);
    this.source = [...flags, ...localsOf(keys, 'KEYS'), ...localsOf(args, 'ARGV'), COMMON, ...rest].join(
      '\n',
    );
    this.hash = createHash('sha1').update(this.source).digest('hex');
  }

  call(
    keys: Readonly<Record<Key, string>>,
    args: Readonly<Record<Arg, string | number>>,
    rest: Rest = {},
  ): ScriptCall {
    const allKeys = [...this.#keys.map((name) => keys[name]), ...(rest.keys ?? [])];
    const allArgs = [...this.#args.map((name) => String(args[name])), ...(rest.args ?? [])];
    return { script: this, key: allKeys[0]!, words: [String(allKeys.length), ...allKeys, ...allArgs] };
  }
}

/** A script that changes nothing. */
export class Look<Key extends string, Arg extends string = never> extends Script<Key, Arg> {
  override readonly writes = false;
}

/** Names for the elements of a Lua table, and for the place of the first one without a name. */
const localsOf = (names: readonly string[], table: 'KEYS' | 'ARGV'): readonly string[] => [
  ...names.map((name, i) => `local ${name} = ${table}[${i + 1}]`),
  `local REST_OF_${table} = ${names.length + 1}`,
];

/** Functions of all scripts. Large numbers are text, since Lua and cjson write them with an exponent. */
const COMMON = `
local call = redis.call
local function text(number) return string.format('%.0f', number) end

-- A member of an index. TypeScript takes it apart again: see pairOf.
local function pair(name, of) return name .. '\\n' .. of end

-- The time in microseconds.
local function clock()
  local time = call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function milliseconds() return math.floor(clock() / 1000) end

-- Notes who holds a session that is not finished; false: it is.
local function note(unfinished, busy, sid, holder)
  local before = call('HGET', unfinished, sid)
  if before == holder then return end
  if before and call('HINCRBY', busy, before, -1) <= 0 then call('HDEL', busy, before) end
  if holder then
    call('HSET', unfinished, sid, holder)
    call('HINCRBY', busy, holder, 1)
  else
    call('HDEL', unfinished, sid)
  end
end

-- Sets fields of a hash.
local function set(hash, fields)
  for field, value in pairs(fields) do call('HSET', hash, field, value) end
end
`;

/** Writes message rows. Their ids, texts and parents are the rest of the arguments: text in JSON takes longer. */
export const PUT_ROWS = `
local function putRows(grown)
  call('HINCRBY', meta, 'mz', grown)
  for i = REST_OF_ARGV, #ARGV, 3 do
    local id, row, parent = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    call('HSET', rows, id, row)
    call('HSETNX', replies, parent, id)
  end
end
`;
