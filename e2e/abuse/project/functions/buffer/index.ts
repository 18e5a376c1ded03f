// Keeps the whole body, as functions do that parse what they get.
Deno.serve(async (request) => new Response(`${(await request.arrayBuffer()).byteLength}`));
