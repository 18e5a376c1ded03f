// Records a run: when each kind of work succeeded, how requests failed, and violations such as lost rows.

export const kinds = [
  "read",
  "write",
  "sign-in",
  "upload",
  "download",
  "broadcast",
  "change",
  "pooled",
  "job",
] as const;
export type Kind = (typeof kinds)[number];

/** How a request may fail during a fault. */
export type Failure =
  /** The response was 503 with Retry-After. */
  | "retriable"
  /** nginx responded 502 or 504, or the connection ended: the node with the request died. */
  | "node lost"
  /** A node gave up a sign-in after its own limit for requests. */
  | "too slow";

interface Event {
  atMs: number;
  kind: Kind;
}

/** A fault, the failures that are allowed meanwhile, and when everything worked again. */
export interface Episode {
  name: string;
  beganMs: number;
  /** When the fault was repaired, in milliseconds. */
  repairedMs: number;
  /** When every kind of work had succeeded again. */
  recoveredMs: number;
}

export class Ledger {
  /** Rows and objects whose write was acknowledged. */
  readonly rows = new Map<string, string>();
  readonly objects = new Map<string, string>();
  /** Descriptions of what must not happen. */
  readonly violations: string[] = [];
  readonly #successes: Event[] = [];
  readonly #failures: (Event & { failure: Failure; message: string })[] = [];
  readonly #startedMs = performance.now();

  succeed(kind: Kind): void {
    this.#successes.push({ kind, atMs: performance.now() });
  }

  fail(kind: Kind, failure: Failure, message: string): void {
    this.#failures.push({ kind, failure, message, atMs: performance.now() });
  }

  forbid(what: string): void {
    const second = ((performance.now() - this.#startedMs) / 1_000).toFixed(1);
    this.violations.push(`${second} s: ${what}`);
  }

  /** Whether every kind of work has succeeded since this time. */
  hasSucceededSince(moment: number): boolean {
    return this.kindsWithoutSuccessSince(moment).length === 0;
  }

  kindsWithoutSuccessSince(moment: number): Kind[] {
    return kinds.filter(
      (kind) => !this.#successes.some((event) => event.kind === kind && event.atMs > moment),
    );
  }

  /** Descriptions of the allowed failures in a period. */
  failures(failure: Failure, fromMs: number, toMs = Number.POSITIVE_INFINITY): string[] {
    return this.#failures
      .filter((one) => one.failure === failure && one.atMs >= fromMs && one.atMs <= toMs)
      .map(({ kind, message }) => `${kind}: ${message}`);
  }

  /** The longest time within an episode in which no work of this kind succeeded, in seconds. */
  longestPause(kind: Kind, { beganMs, recoveredMs }: Episode): number {
    const times = this.#successes.filter((event) => event.kind === kind).map(({ atMs }) => atMs);
    const inside = times.filter((at) => at > beganMs && at < recoveredMs);
    const points = [beganMs, ...inside, recoveredMs];
    const pauses = points.slice(1).map((at, index) => at - (points[index] ?? 0));
    return Math.max(...pauses) / 1_000;
  }

  /** A table of all episodes: seconds without success by kind of work, and what failed. */
  table(episodes: Episode[]): string {
    const head = ["fault", "broken", ...kinds, "503", "node lost", "too slow"];
    const rows = episodes.map((episode) => [
      episode.name,
      ((episode.repairedMs - episode.beganMs) / 1_000).toFixed(1),
      ...kinds.map((kind) => this.longestPause(kind, episode).toFixed(1)),
      `${this.failures("retriable", episode.beganMs, episode.recoveredMs).length}`,
      `${this.failures("node lost", episode.beganMs, episode.recoveredMs).length}`,
      `${this.failures("too slow", episode.beganMs, episode.recoveredMs).length}`,
    ]);
    const widths = head.map((title, column) =>
      Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
    );
    const line = (cells: string[]) =>
      `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
    const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
    return [line(head), rule, ...rows.map(line)].join("\n");
  }
}
