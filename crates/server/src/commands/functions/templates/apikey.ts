// Your editor understands this file with Deno's language server:
// https://docs.deno.com/runtime/getting_started/setup_your_environment

// Types of the runtime's own globals, such as EdgeRuntime.
import "@supabase/functions-js/edge-runtime.d.ts"
import { withSupabase } from "@supabase/server"

console.log("Hello from Functions!")

// Callers need an API key: a publishable one in browsers and apps, a secret one on servers.
// ctx.supabaseAdmin bypasses row-level security; use it only where ctx.authMode is "secret".
export default {
  fetch: withSupabase({ auth: ["publishable", "secret"] }, async (req, _ctx) => {
    const { name } = await req.json()

    return Response.json({ message: `Hello ${name}!` })
  }),
}

/* Call it while the project runs:

  curl -i --request POST '{{URL}}' \
    --header 'apikey: {{KEY}}' \
    --header 'Content-Type: application/json' \
    --data '{"name":"Functions"}'
*/
