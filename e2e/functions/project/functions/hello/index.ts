import "jsr:@supabase/functions-js/edge-runtime.d.ts";
import { corsHeaders } from "../_shared/cors.ts";
import { greeting } from "./greeting.ts";

Deno.serve(async (req) => {
  if (req.method === "OPTIONS") {
    return new Response("ok", { headers: corsHeaders });
  }
  const { name } = await req.json();
  console.log("greeting", name);
  return new Response(JSON.stringify({ message: `${greeting} ${name}!` }), {
    headers: { ...corsHeaders, "Content-Type": "application/json" },
  });
});
