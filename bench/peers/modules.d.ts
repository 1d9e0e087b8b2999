// Peers that are installed when a benchmark first needs them, so that types of theirs are not there to be checked.
declare module '@trpc/server';
declare module '@trpc/server/adapters/standalone';
declare module '@trpc/server/adapters/ws';
declare module 'better-sse';
declare module 'socket.io';
