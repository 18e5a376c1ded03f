// Responds according to the path: /status/204, /redirect, /headers.
Deno.serve((req) => {
  const { pathname, searchParams } = new URL(req.url);
  const [, , action, value] = pathname.split("/");
  switch (action) {
    case "status":
      return new Response(null, { status: Number(value) });
    case "redirect":
      return Response.redirect("https://example.com/elsewhere", 302);
    case "headers": {
      const headers = new Headers({ "X-Own": "1" });
      headers.append("Set-Cookie", "a=1");
      headers.append("Set-Cookie", "b=2");
      return Response.json(Object.fromEntries(req.headers), { headers });
    }
    default:
      return new Response(searchParams.get("text") ?? "public");
  }
});
