let calls = 0;
addEventListener("unhandledrejection", (event) => event.preventDefault());

Deno.serve(() => {
  calls += 1;
  Promise.reject(new Error("nobody waits for this"));
  return Response.json({ calls });
});
