/** The way from a logged request to the simulator. */
import type { LogEntry } from "./log-entry";

/**
 * The address names the request and who sent it. The simulator takes the rest from the log, so that nothing of the request itself
 * stands in the browser's history.
 */
export function simulateLink({ request_id: id, user, role }: LogEntry): string {
  const parameters = new URLSearchParams({ request: id });
  const subject = user ?? role;
  if (subject !== null) parameters.set("as", subject);
  return `/policies/simulator?${parameters}`;
}
