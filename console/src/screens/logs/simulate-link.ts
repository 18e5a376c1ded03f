/** The way from a logged request to the simulator. */
import type { LogEntry } from "./log-entry";

/**
 * Links to the simulator with the id of a request and its caller. The simulator reads the rest from the log, so that the
 * browser's history contains nothing of the request.
 */
export function simulateLink({ request_id: id, user, role }: LogEntry): string {
  const parameters = new URLSearchParams({ request: id });
  const subject = user ?? role;
  if (subject !== null) parameters.set("as", subject);
  return `/policies/simulator?${parameters}`;
}
