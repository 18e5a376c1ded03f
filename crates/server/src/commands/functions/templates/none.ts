// Your editor understands this file with Deno's language server:
// https://docs.deno.com/runtime/getting_started/setup_your_environment

// Types of the runtime's own globals, such as EdgeRuntime.
import "@supabase/functions-js/edge-runtime.d.ts"
import { withSupabase } from "@supabase/server"

console.log("Hello from Functions!")

// Everybody may call this function.
export default {
  fetch: withSupabase({ auth: "none" }, async (req, _ctx) => {
    const { name } = await req.json()

    return Response.json({ message: `Hello ${name}!` })
  }),
}

/* Call it while the project runs:

  curl -i --request POST '{{URL}}' \
    --header 'Content-Type: application/json' \
    --data '{"name":"Functions"}'
*/
