// Passes a body through without keeping it.
Deno.serve((req) => new Response(req.body, { headers: { "Content-Type": "application/octet-stream" } }));
