// Logs without an end, as a forgotten line in a loop does.
Deno.serve(() => {
  const end = Date.now() + 1000;
  while (Date.now() < end) console.log("x".repeat(8000));
  return new Response("done");
});
