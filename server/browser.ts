throw new Error(
  "agent-session-gateway is the server and can't run in a browser; import 'agent-session-gateway/client', and types with `import type`",
);
