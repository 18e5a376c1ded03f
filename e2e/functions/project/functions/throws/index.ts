let calls = 0;

Deno.serve((req) => {
  calls += 1;
  if (req.method === "POST") {
    throw new Error("thrown on purpose");
  }
  return Response.json({ calls });
});
