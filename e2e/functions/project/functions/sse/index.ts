Deno.serve(() => {
  const encoder = new TextEncoder();
  let sent = 0;
  const body = new ReadableStream({
    async pull(controller) {
      sent += 1;
      controller.enqueue(encoder.encode(`data: ${sent}\n\n`));
      if (sent === 3) {
        controller.close();
      }
      await new Promise((wake) => setTimeout(wake, 150));
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
});
