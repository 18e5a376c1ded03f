// Reads a body whole, and answers what it was.
Deno.serve(async (req) => {
  const bytes = await req.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const text = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return Response.json({ length: bytes.byteLength, type: req.headers.get("content-type"), digest: text });
});
