Deno.serve(() => new Response("unfinished);
