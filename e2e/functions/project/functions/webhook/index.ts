// Checks a signature over the raw body, as payment services send it.
const encoder = new TextEncoder();

Deno.serve(async (req) => {
  const body = await req.text();
  const [time, signature] = (req.headers.get("x-signature") ?? "").split(",");
  const key = await crypto.subtle.importKey(
    "raw",
    encoder.encode("whsec_test"),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  const bytes = Uint8Array.from(signature?.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const isGenuine = await crypto.subtle.verify("HMAC", key, bytes, encoder.encode(`${time}.${body}`));
  return isGenuine
    ? Response.json({ received: JSON.parse(body).type })
    : new Response("bad signature", { status: 400 });
});
