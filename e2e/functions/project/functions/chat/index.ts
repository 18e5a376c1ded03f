const members = new Set<WebSocket>();

Deno.serve((req) => {
  if (req.headers.get("upgrade") !== "websocket") {
    return new Response("expected a WebSocket", { status: 426 });
  }
  if (new URL(req.url).searchParams.get("token") !== "let-me-in") {
    return new Response("wrong token", { status: 403 });
  }
  const { socket, response } = Deno.upgradeWebSocket(req);
  socket.onopen = () => members.add(socket);
  socket.onclose = () => members.delete(socket);
  socket.onmessage = ({ data }) => {
    for (const member of members) {
      member.send(data);
    }
  };
  return response;
});
