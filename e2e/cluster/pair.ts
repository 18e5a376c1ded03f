// A small cluster for what happens between servers without Patroni: two PostgreSQL servers, nodes, and the S3 server.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateKeys } from "../support/cluster.ts";
import { makeProject } from "../support/project.ts";
import { type Finished, Machine, makeBridge } from "./network.ts";
import {
  type Deployment,
  replicasOf,
  runCommand,
  startNode,
  startStore,
  untilReady,
} from "./nodes.ts";
import { PlainServer } from "./plain.ts";

/** The machines of the small cluster. */
export interface Pair {
  deployment: Deployment;
  servers: [PlainServer, PlainServer];
  store: Machine;
  /** Adds a node with the database of these hosts, and starts it. */
  addNode(name: string, number: number, hosts: string[]): Promise<Machine>;
  /** Adds another server of PostgreSQL, without data. */
  addServer(name: string, number: number): PlainServer;
  /** Runs a command with the database of these hosts, as superuser or as `user`. */
  run(hosts: string[], arguments_: string[], user?: string): Promise<Finished>;
  /** Adds a migration to the project. */
  addMigration(version: string, sql: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the servers, of which the second one is a standby of the first one, and the S3 server. The project has this migration. */
export async function startPair(folder: string, migration: string): Promise<Pair> {
  makeBridge();
  const project = await makeProject("cluster", migration);
  const deployment = { folder, project, keys: generateKeys(project.path) };
  const operator = new Machine("operator", 50, async () => {});
  const store = new Machine("store", 32, (machine) => startStore(machine, folder, deployment.keys));
  const machines = [operator, store];
  const addServer = (name: string, number: number) => {
    const server = new PlainServer(name, number, folder);
    machines.push(server.machine);
    return server;
  };
  const servers: Pair["servers"] = [addServer("db-1", 11), addServer("db-2", 12)];
  const replicas = replicasOf(servers.map(({ machine }) => machine.name));
  const run: Pair["run"] = (hosts, arguments_, user) =>
    runCommand(operator, deployment, hosts, arguments_, user);
  await Promise.all([store.start(), servers[0].create()]);
  const { code, output } = await run([servers[0].host], ["migrate", "up"]);
  if (code !== 0) {
    throw new Error(`The migration was not applied:\n${output}`);
  }
  await servers[1].copyFrom(servers[0]);
  return {
    deployment,
    servers,
    store,
    run,
    addServer,
    addNode: async (name, number, hosts) => {
      const variables = {
        ...(hosts.length > 1 ? replicas : {}),
        SELVEDGE_PG_ENABLED: "true",
        SUPABASE_API_EXTERNAL_URL: `http://${name}:54321`,
      };
      const node = new Machine(name, number, async (machine) =>
        startNode(machine, deployment, hosts, variables),
      );
      machines.push(node);
      await node.start();
      await untilReady(node);
      return node;
    },
    addMigration: (version, sql) =>
      writeFile(join(project.path, "migrations", `${version}_cluster.sql`), sql),
    stop: async () => {
      await Promise.all(machines.map((machine) => machine.losePower()));
      await project.remove();
    },
  };
}
