// SQL against the server under test, by the endpoint of postgres-meta. For what no client may do: reading the catalog, and making
// rows that are older than the test.

import { apiUrl } from "./address.ts";
import { serviceKey } from "./clients.ts";

/** Runs a statement as `postgres` and returns its rows. */
export async function runSql<Row>(query: string): Promise<Row[]> {
  const response = await fetch(`${apiUrl()}/pg/query`, {
    method: "POST",
    headers: {
      apikey: serviceKey,
      authorization: `Bearer ${serviceKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ query }),
  });
  if (!response.ok) {
    throw new Error(`${response.status} ${await response.text()}`);
  }
  return (await response.json()) as Row[];
}

/** Lets eleven minutes pass since all sign-ins of this person: the site then asks for another one before it deletes an account. */
export async function ageSignIns(email: string): Promise<void> {
  await runSql(`
    update auth.mfa_amr_claims as claim set updated_at = claim.updated_at - interval '11 minutes'
    from auth.sessions as s join auth.users as u on u.id = s.user_id
    where s.id = claim.session_id and u.email = '${email}'`);
}
