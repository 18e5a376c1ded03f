// Writes why it ends to the log.
addEventListener("beforeunload", (event) => {
  console.log("ending because of", (event as CustomEvent).detail.reason);
});

Deno.serve((req) =>
  new URL(req.url).pathname.endsWith("/wait") ? new Promise<Response>(() => {}) : new Response("ok")
);
