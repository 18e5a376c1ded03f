// What the nodes and servers say when the jobs do not go on: which node leads, which sessions there are, and what they wait for.

import { pause } from "./conditions.ts";
import { sql } from "./database.ts";
import type { Machine } from "./network.ts";

/** A machine that takes longer tells nothing. In milliseconds. */
const answerMs = 10_000;

/** What each server is asked, by a title. */
const questions: Record<string, string> = {
  server: `select now(), pg_is_in_recovery(), timeline_id, pg_postmaster_start_time(),
      current_setting('synchronous_standby_names') from pg_control_checkpoint()`,
  worker_sessions: `select w.*, _selvedge.is_session_alive(w.pid, w.started) from _selvedge.selvedge_worker_sessions w`,
  sessions: `select pid, usename, application_name, client_addr, backend_start, state, wait_event_type, wait_event,
      state_change, replace(left(query, 80), chr(10), ' ')
      from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by usename, pid`,
  locks: `select pid, classid, objid, mode, granted from pg_locks where locktype = 'advisory'
      or not granted`,
  runs: `select runid, jobid, job_pid, status, left(return_message, 80), start_time, end_time
      from cron.job_run_details order by runid desc limit 6`,
  ticks: "select max(at), count(*) from public.ticks",
};

/** Describes what every node and every server does at the moment. */
export async function describeSituation(nodes: Machine[], servers: Machine[]): Promise<string> {
  const texts = [...nodes.map(describeNode), ...servers.map(describeServer)];
  return (await Promise.all(texts)).join("\n");
}

async function describeNode(node: Machine): Promise<string> {
  const url = `http://${node.address}:54321/metrics`;
  const metrics = await fetch(url, { signal: AbortSignal.timeout(answerMs) })
    .then((answer) => answer.text())
    .catch((error) => `selvedge_jobs: ${error}`);
  const lines = metrics.split("\n").filter((line) => /^selvedge_(jobs|database)/.test(line));
  return [`== ${node.name}`, ...lines].join("\n");
}

async function describeServer(server: Machine): Promise<string> {
  const answers = Object.entries(questions).map(async ([title, text]) => {
    const rows = sql(server, text).catch((error) => [[`${error}`]]);
    const limited = await Promise.race([rows, pause(answerMs).then(() => [["no answer"]])]);
    return [`-- ${server.name}: ${title}`, ...limited.map((row) => row.join(" | "))].join("\n");
  });
  return (await Promise.all(answers)).join("\n");
}
