// Ports for the servers of tests.
//
// They are below 32768, where no client's connection takes a port before the server listens on it. The Rust tests take theirs from
// 20 000 on. Each process of the tests has a block of ports of its own, so that processes that run at the same time never choose the
// same one: it listens on the first port of its block until it ends.

import { createServer, type Server } from "node:net";

const firstPort = 26_000;
const lastPort = 32_000;
const blockSize = 100;

/** Listens on a port, or returns undefined if somebody else does. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((ready) => {
    const server = createServer();
    server.once("error", () => ready(undefined));
    server.listen(port, "127.0.0.1", () => ready(server));
  });
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  await new Promise((closed) => (server === undefined ? closed(undefined) : server.close(closed)));
  return server !== undefined;
}

/** Takes a block that no other process has, and returns its first port. */
async function takeBlock(): Promise<number> {
  const blocks = (lastPort - firstPort) / blockSize;
  const first = Math.floor(Math.random() * blocks);
  for (let step = 0; step < blocks; step += 1) {
    const port = firstPort + ((first + step) % blocks) * blockSize;
    const guard = await listen(port);
    if (guard !== undefined) {
      guard.unref();
      return port;
    }
  }
  throw new Error(`Every block of ports between ${firstPort} and ${lastPort} is taken.`);
}

// Modules may be loaded more than once in a process, which still has only one block.
const shared = globalThis as { portsOfTests?: { block: Promise<number>; used: number } };
shared.portsOfTests ??= { block: takeBlock(), used: 0 };
const ports = shared.portsOfTests;

/** Finds free ports. None is handed out again before the process has used all others of its block. */
export async function freePorts(count: number): Promise<number[]> {
  const block = await ports.block;
  const found: number[] = [];
  for (let step = 0; found.length < count && step < 2 * blockSize; step += 1) {
    ports.used = (ports.used % (blockSize - 1)) + 1;
    const port = block + ports.used;
    if (!found.includes(port) && (await isFree(port))) {
      found.push(port);
    }
  }
  if (found.length < count) {
    throw new Error(`There are no ${count} free ports from ${block} on.`);
  }
  return found;
}
