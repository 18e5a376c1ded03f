Deno.serve(async () => {
  const page = await Deno.readTextFile(new URL("./page.html", import.meta.url));
  return new Response(page, { headers: { "Content-Type": "text/html; charset=utf-8" } });
});
