// Answers what it was sent: the request as the function sees it.

Deno.serve(async (request) => {
  const form = request.headers.get("response-type") === "form";
  const body = form ? [...(await request.formData()).entries()] : await request.text();
  const { url, method } = request;
  return Response.json({ url, method, headers: Object.fromEntries(request.headers), body });
});
