Deno.serve(() => new Response("never served"));
