# Agent Session Gateway, serving deploy/server.js: docker build -t agent-session-gateway .
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && rm -rf dist/src
RUN npm prune --omit=dev --no-audit --no-fund && mkdir data
# What the stores need that gateways share, and what metrics need, in the versions that were tested.
RUN npm install --no-save --save-prod --omit=dev --ignore-scripts --no-audit --no-fund \
  $(node -p "const { devDependencies } = require('./package.json'); ['@redis/client', 'pg', 'prom-client'].map((name) => name + '@' + devDependencies[name]).join(' ')")

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=18789 GATEWAY_DB=/data/gateway.db
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY --from=build /build/deploy/server.js ./
COPY --from=build --chown=node:node /build/data /data
USER node
VOLUME /data
EXPOSE 18789
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that SIGTERM reaches it.
ENTRYPOINT ["node", "dist/server/cli/main.js"]
CMD ["start", "server.js"]
