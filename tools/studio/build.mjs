// Draws everything and writes the seed. Usage:
//   node build.mjs                 all pictures that are missing, and seed.sql
//   node build.mjs --force         all pictures again
//   node build.mjs --only slug,…   just these pictures
//   node build.mjs --sql           seed.sql alone

import { availableParallelism } from 'node:os';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { JOBS, runJob } from './jobs.mjs';
import { seedSql } from './sql/seed.mjs';

const here = fileURLToPath(import.meta.url);
// Pictures and seed.sql are written into Lookbook's project folder.
const root = new URL('../../sql/app/', import.meta.url);

/** Runs jobs on a few threads; a thread takes the next job when it has finished one. */
async function drawAll(jobs) {
  let next = 0;
  let done = 0;
  const threads = Math.min(availableParallelism(), 4, jobs.length);
  await Promise.all(
    Array.from(
      { length: threads },
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker(here);
          const give = () => {
            if (next < jobs.length) worker.postMessage(jobs[next++].id);
            else worker.terminate().then(resolve);
          };
          worker.on('message', (id) => {
            done += 1;
            process.stdout.write(`\r${done}/${jobs.length} ${id}`.padEnd(70));
            give();
          });
          worker.on('error', reject);
          give();
        }),
    ),
  );
  process.stdout.write('\n');
}

if (isMainThread) {
  const args = process.argv.slice(2);
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1].split(',') : null;
  if (!args.includes('--sql')) {
    for (const job of JOBS) mkdirSync(new URL(job.folder, root), { recursive: true });
    const jobs = JOBS.filter((job) => (only ? only.includes(job.slug) : args.includes('--force') || !existsSync(new URL(job.file, root))));
    await drawAll(jobs);
  }
  writeFileSync(new URL('seed.sql', root), await seedSql());
} else {
  parentPort.on('message', async (id) => {
    await runJob(
      JOBS.find((job) => job.id === id),
      root,
    );
    parentPort.postMessage(id);
  });
}
