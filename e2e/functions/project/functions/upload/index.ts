import { createClient } from "npm:@supabase/supabase-js@2";

Deno.serve(async (req) => {
  const form = await req.formData();
  const file = form.get("file");
  if (!(file instanceof File)) {
    return new Response("no file", { status: 400 });
  }
  const admin = createClient(Deno.env.get("SUPABASE_URL")!, Deno.env.get("SUPABASE_SERVICE_ROLE_KEY")!);
  const { data, error } = await admin.storage.from("files").upload(`${form.get("name")}`, file, { upsert: true });
  return Response.json({ path: data?.path, error: error?.message, size: file.size });
});
