// The jobs of pg_cron: which node runs them, whether they go on, and whether one was skipped or run twice.

import { pause, until } from "./conditions.ts";
import { sql } from "./database.ts";
import type { Ledger } from "./ledger.ts";
import type { Machine } from "./network.ts";

/** Pause between two looks, and how long a server may take to respond. */
const intervalMs = 500;
const answerMs = 2_000;

/** A job of each second that writes the time, and one of each minute, of which the details of runs tell when it ran. */
export const jobsSchema = `
  create table public.ticks (at timestamptz not null default clock_timestamp());
  create extension pg_cron;
  select cron.schedule('tick', '1 seconds', 'insert into public.ticks default values');
  select cron.schedule('minute', '* * * * *', 'select 1');
`;

/** Returns the node that runs the jobs, once there is one. */
export async function findLeader(nodes: Machine[]): Promise<Machine> {
  let leader: Machine | undefined;
  await until(async () => {
    for (const node of nodes) {
      const url = `http://${node.address}:54321/metrics`;
      const signal = AbortSignal.timeout(5_000);
      const metrics = await fetch(url, { signal })
        .then((answer) => answer.text())
        .catch(() => "");
      if (/^selvedge_jobs_leader 1$/m.test(metrics)) {
        leader = node;
      }
    }
    return leader !== undefined;
  }, "a node runs the jobs");
  return leader as Machine;
}

/** Records a success of jobs in the ledger whenever the job of each second has run. */
export class JobWatch {
  readonly #servers: Machine[];
  readonly #ledger: Ledger;
  #isGoing = true;
  readonly #watching: Promise<void>;

  constructor(servers: Machine[], ledger: Ledger) {
    this.#servers = servers;
    this.#ledger = ledger;
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#isGoing = false;
    await this.#watching;
  }

  async #watch(): Promise<void> {
    let last = "";
    while (this.#isGoing) {
      const latest = await Promise.all(this.#servers.map(readLatestTick));
      for (const tick of latest.filter((one) => one > last)) {
        last = tick;
        this.#ledger.succeed("job");
      }
      await pause(intervalMs);
    }
  }
}

/** The time of the latest run on a server that is a primary; empty for any other. In UTC, so that texts compare like times. */
async function readLatestTick(server: Machine): Promise<string> {
  const text = `select case when not pg_is_in_recovery()
    then to_char(max(at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') end from public.ticks`;
  const answer = sql(server, text).catch(() => []);
  const rows = await Promise.race([answer, pause(answerMs).then(() => [])]);
  return rows[0]?.[0] ?? "";
}

/**
 * Compares how often the job of each minute was begun with the number of minutes from its first to its last run. A run that had to
 * wait for a primary may begin a minute late, so minutes are not compared one by one.
 */
export async function countMinutes(primary: Machine): Promise<{ runs: number; minutes: number }> {
  const [[runs, minutes] = []] = await sql(
    primary,
    `select count(*), 1 + extract(epoch from date_trunc('minute', max(start_time))
       - date_trunc('minute', min(start_time)))::int / 60
     from cron.job_run_details join cron.job using (jobid) where jobname = 'minute' and start_time is not null`,
  );
  return { runs: Number(runs), minutes: Number(minutes) };
}
