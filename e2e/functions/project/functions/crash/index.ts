let calls = 0;

Deno.serve(async (req) => {
  calls += 1;
  if (new URL(req.url).pathname.endsWith("/now")) {
    setTimeout(() => {
      throw new Error("crashed on purpose");
    }, 20);
    await new Promise(() => {});
  }
  return Response.json({ calls });
});
