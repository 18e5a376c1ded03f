import { createClient } from "npm:@supabase/supabase-js@2";

Deno.serve(async () => {
  const admin = createClient(Deno.env.get("SUPABASE_URL")!, Deno.env.get("SUPABASE_SERVICE_ROLE_KEY")!);
  const { count, error } = await admin.from("notes").select("*", { count: "exact", head: true });
  return Response.json({ count, error: error?.message ?? null });
});
