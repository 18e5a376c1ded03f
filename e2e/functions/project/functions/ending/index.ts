// Writes why it ends to the log.
addEventListener("beforeunload", (event) => {
  console.log("ending because of", (event as CustomEvent).detail.reason);
});

Deno.serve((req) => {
  if (new URL(req.url).pathname.endsWith("/wait")) {
    console.log("waiting for the end");
    return new Promise<Response>(() => {});
  }
  return new Response("ok");
});
