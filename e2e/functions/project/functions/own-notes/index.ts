import { createClient } from "@supabase/supabase-js";

Deno.serve(async (req) => {
  const client = createClient(Deno.env.get("SUPABASE_URL")!, Deno.env.get("SUPABASE_ANON_KEY")!, {
    global: { headers: { Authorization: req.headers.get("Authorization")! } },
  });
  if (req.method === "POST") {
    const { body } = await req.json();
    const { error } = await client.from("notes").insert({ body });
    return Response.json({ error: error?.message ?? null });
  }
  const { data, error } = await client.from("notes").select("body");
  return Response.json({ data, error: error?.message ?? null });
});
