// Your editor understands this file with Deno's language server:
// https://docs.deno.com/runtime/getting_started/setup_your_environment

// Types of the runtime's own globals, such as EdgeRuntime.
import "@supabase/functions-js/edge-runtime.d.ts"
import { withSupabase } from "@supabase/server"

console.log("Hello from Functions!")

// Callers must be signed in.
export default {
  fetch: withSupabase({ auth: "user" }, async (_req, ctx) => {
    const email = ctx.userClaims?.email

    return Response.json({ message: `Hello ${email}!` })
  }),
}

/* Call it while the project runs:

  curl -i --request POST '{{URL}}' \
    --header 'apikey: {{KEY}}' \
    --header 'Authorization: Bearer <the token of a session>'
*/
