Deno.serve(() => new Response("from elsewhere"));
