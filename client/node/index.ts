export { createUnixSocketClientTransport, type UnixSocketOptions } from './unix-socket.js';
