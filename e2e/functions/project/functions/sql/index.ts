import postgres from "npm:postgres@3.4.9";

const sql = postgres(Deno.env.get("SUPABASE_DB_URL")!, { max: 1 });

Deno.serve(async () => {
  const [row] = await sql`select current_user as login, 40 + 2 as answer`;
  return Response.json(row);
});
