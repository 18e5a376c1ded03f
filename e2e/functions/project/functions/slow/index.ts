// Answers after a second and a half.

Deno.serve(async () => {
  await new Promise((wake) => setTimeout(wake, 1500));
  return new Response("Slow Response");
});
