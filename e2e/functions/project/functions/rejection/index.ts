Deno.serve(async () => {
  Promise.reject(new Error("rejected on purpose"));
  await new Promise(() => {});
  return new Response("never");
});
