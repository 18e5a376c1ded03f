// Passes the stream of a language model on, with each token in capital letters.
Deno.serve(async (req) => {
  const { upstream } = await req.json();
  const response = await fetch(upstream, { method: "POST", body: JSON.stringify({ stream: true }) });
  const upper = new TransformStream<string, string>({
    transform(text, controller) {
      controller.enqueue(text.toUpperCase());
    },
  });
  const body = response.body!
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(upper)
    .pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
});
