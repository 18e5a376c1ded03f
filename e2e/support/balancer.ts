// A load balancer for several nodes: it requests /health/ready of each, forwards requests in turn over kept-open
// connections, and tries another node only when a node cannot be reached at all, as a proxy does for requests that must not
// be sent twice.

import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./until.ts";

/** How often each node is asked for its health. */
const checkIntervalMs = 100;

interface Backend {
  url: URL;
  agent: Agent;
  isReady: boolean;
  /** When the check began that said so, in milliseconds since the process started. */
  askedAt: number;
}

export interface Balancer {
  url: string;
  /** Waits until checks that begin from now on have found every node ready. */
  untilAllReady(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a balancer for these addresses. */
export async function startBalancer(nodes: string[]): Promise<Balancer> {
  const backends = nodes.map((node) => ({
    url: new URL(node),
    agent: new Agent({ keepAlive: true }),
    isReady: true,
    askedAt: 0,
  }));
  const checks = backends.map((backend) =>
    setInterval(() => {
      const askedAt = performance.now();
      const note = (isReady: boolean) => Object.assign(backend, { isReady, askedAt });
      void fetch(new URL("/health/ready", backend.url)).then(
        ({ ok }) => note(ok),
        () => note(false),
      );
    }, checkIntervalMs),
  );
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    turn += 1;
    const ready = backends.filter((backend) => backend.isReady);
    const inTurn = ready.map((_, index) => ready[(turn + index) % ready.length] as Backend);
    passOn(incoming, outgoing, inTurn);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    untilAllReady: () => {
      const begun = performance.now();
      const isKnown = () => backends.every(({ isReady, askedAt }) => isReady && askedAt > begun);
      return until(isKnown, "the balancer finds all nodes ready");
    },
    stop: async () => {
      for (const check of checks) {
        clearInterval(check);
      }
      await close(server);
      for (const { agent } of backends) {
        agent.destroy();
      }
    },
  };
}

/** Passes a request on to the first of these nodes that accepts a connection. */
function passOn(incoming: IncomingMessage, outgoing: ServerResponse, backends: Backend[]): void {
  const [backend, ...others] = backends;
  if (backend === undefined) {
    outgoing.writeHead(502).end("no node can be reached");
    return;
  }
  const { method, url: path, headers } = incoming;
  const { hostname, port } = backend.url;
  const passed = request({ hostname, port, method, path, headers, agent: backend.agent });
  passed.once("response", (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(outgoing);
  });
  passed.once("error", (error: NodeJS.ErrnoException) => {
    incoming.unpipe(passed);
    if (error.code === "ECONNREFUSED") {
      passOn(incoming, outgoing, others);
    } else if (outgoing.headersSent) {
      outgoing.destroy();
    } else {
      outgoing.writeHead(502).end(error.message);
    }
  });
  // The body is forwarded only when the connection is open, because until then another node may get the request.
  passed.once("socket", (socket) => {
    const send = () => incoming.pipe(passed);
    if (socket.connecting) {
      socket.once("connect", send);
    } else {
      send();
    }
  });
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((closed) => server.close(() => closed()));
}
