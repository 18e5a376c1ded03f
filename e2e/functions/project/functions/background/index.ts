import postgres from "npm:postgres@3.4.9";

Deno.serve(async (req) => {
  const { name } = await req.json();
  const work = async () => {
    await new Promise((wake) => setTimeout(wake, 300));
    const sql = postgres(Deno.env.get("SUPABASE_DB_URL")!, { max: 1 });
    await sql`insert into public.jobs (name) values (${name})`;
    await sql.end();
  };
  EdgeRuntime.waitUntil(work());
  return new Response("accepted", { status: 202 });
});
