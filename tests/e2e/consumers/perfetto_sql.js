// Loads traces into the trace processor of Perfetto's web page, without a browser, and answers SQL.
//   node perfetto_sql.js WEB_DIST TRACE... -- SQL...
// Prints one line for each trace: a JSON list of the rows that each query returned, and last the loading time.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [web, ...words] = process.argv.slice(2);
const traces = words.slice(0, words.indexOf('--'));
const queries = words.slice(words.indexOf('--') + 1);
const engine = fs.readdirSync(web).map((name) => path.join(web, name, 'engine_bundle.js')).find((file) => fs.existsSync(file));

// Methods of TraceProcessorRpc.
const kAppend = 1, kFinalize = 2, kQuery = 3, kStatus = 10, kReset = 11;

// ---- protobuf: the protocol needs only varints and lengths
function varint(value) {
  const bytes = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);

/** Returns the varint at `at` and its end. */
function varintAt(buffer, at) {
  let value = 0n;
  for (let shift = 0n;; shift += 7n) {
    const byte = buffer[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}
function packed(buffer) {
  const values = [];
  for (let at = 0, value; at < buffer.length; values.push(BigInt.asIntN(64, value))) [value, at] = varintAt(buffer, at);
  return values;
}
function* fields(buffer) {
  for (let at = 0, key, value; at < buffer.length;) {
    [key, at] = varintAt(buffer, at);
    const wire = Number(key & 7n);
    if (wire === 0 || wire === 2) [value, at] = varintAt(buffer, at);
    if (wire !== 0) {
      const size = wire === 1 ? 8 : wire === 5 ? 4 : Number(value);
      value = buffer.subarray(at, at + size);
      at += size;
    }
    yield [Number(key >> 3n), value];
  }
}

// ---- the web page's worker
const replies = [];
let pending = Buffer.alloc(0);
const port = {
  postMessage(data) {
    pending = Buffer.concat([pending, Buffer.from(data)]);
    for (;;) {
      const sizes = whole(pending);
      if (sizes === null) return;
      replies.push(pending.subarray(sizes[0], sizes[1]));
      pending = pending.subarray(sizes[1]);
    }
  },
};
/** Returns the begin and the end of the first message in `buffer`, or null. */
function whole(buffer) {
  let size = 0, at = 1;
  for (let scale = 1; ; scale *= 128) {
    if (at >= buffer.length) return null;
    size += (buffer[at] & 127) * scale;
    if (buffer[at++] < 128) break;
  }
  return at + size <= buffer.length ? [at, at + size] : null;
}
const worker = {location: {href: 'http://localhost/'}};
const file = (url) => path.join(path.dirname(engine), path.basename(String(url)));
class XMLHttpRequest {
  open(method, url) { this.response = fs.readFileSync(file(url)); }
  send() {}
}
const quiet = {log() {}, warn() {}, error() {}};
vm.runInThisContext(`(function(self, WorkerGlobalScope, XMLHttpRequest, console, process, require) {${fs.readFileSync(engine)}\n})`)(
    worker, class {}, XMLHttpRequest, quiet);
worker.onmessage({data: port});

let sequence = 0;
function ask(method, ...parts) {
  const message = Buffer.concat([number(1, sequence++), number(2, method), ...parts]);
  port.onmessage({data: new Uint8Array(bytes(1, message))});
  return replies.splice(0).map((reply) => Array.from(fields(reply)));
}
const member = (reply, wanted) => reply.filter(([field]) => field === wanted).map(([, value]) => value);

function query(sql) {
  const names = [], rows = [];
  for (const reply of ask(kQuery, bytes(103, bytes(1, Buffer.from(sql))))) {
    for (const result of member(reply, 203)) {
      for (const [field, value] of fields(result)) {
        if (field === 1) names.push(value.toString());
        if (field === 2) throw new Error(`${sql}: ${value}`);
        if (field !== 3) continue;
        const kinds = [], integers = [], doubles = [];
        let texts = [];
        for (const [part, data] of fields(value)) {
          if (part === 1) kinds.push(...(data instanceof Uint8Array ? data : [Number(data)]));
          if (part === 2) integers.push(...packed(data));
          if (part === 3) for (let i = 0; i < data.length; i += 8) doubles.push(data.readDoubleLE(i));
          if (part === 5) texts = data.toString().split('\0');
        }
        kinds.forEach((kind) => {
          if (rows.length === 0 || rows[rows.length - 1].length === names.length) rows.push([]);
          const cell = kind === 2 ? integers.shift() : kind === 3 ? doubles.shift() : kind === 4 ? texts.shift() : null;
          rows[rows.length - 1].push(cell);
        });
      }
    }
  }
  return rows;
}
function load(trace) {
  ask(kReset);
  const begin = Date.now();
  const handle = fs.openSync(trace, 'r');
  const piece = Buffer.alloc(8 << 20);
  for (let size; (size = fs.readSync(handle, piece)) > 0;) {
    for (const reply of ask(kAppend, bytes(101, piece.subarray(0, size)))) {
      for (const result of member(reply, 201))
        for (const [field, value] of fields(result)) if (field === 2) throw new Error(`${trace}: ${value}`);
    }
  }
  fs.closeSync(handle);
  ask(kFinalize);
  return Date.now() - begin;
}

setTimeout(function start() {
  // The worker answers only after it has compiled the program.
  try {
    ask(kStatus);
  } catch (error) {
    return setTimeout(start, 50);
  }
  const number = (key, value) =>
      typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  for (const trace of traces) {
    const loaded = load(trace);
    fs.writeFileSync(1, JSON.stringify([...queries.map(query), {load_ms: loaded}], number) + '\n');
  }
  process.exit(0);
}, 50);
