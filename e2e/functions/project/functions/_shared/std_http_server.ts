// Serves as std/http/server.ts does: it accepts connections of Deno.listen and reads their requests by Deno.serveHttp.
// Tests have no access to deno.land, so the import map of a function leads its address here.

type Handler = (request: Request, info: { remoteAddr: Deno.Addr }) => Response | Promise<Response>;

async function answer(connection: Deno.Conn, handler: Handler): Promise<void> {
  // deno-lint-ignore no-explicit-any
  const http = (Deno as any).serveHttp(connection);
  while (true) {
    let event: { request: Request; respondWith(response: Response | Promise<Response>): Promise<void> } | null;
    try {
      event = await http.nextRequest();
    } catch {
      break;
    }
    if (event === null) {
      break;
    }
    let response: Response;
    try {
      response = await handler(event.request, { remoteAddr: connection.remoteAddr });
    } catch (error) {
      console.error(error);
      response = new Response("Internal Server Error", { status: 500 });
    }
    await event.respondWith(response);
  }
  http.close();
}

export async function serve(handler: Handler, options: { port?: number } = {}): Promise<void> {
  const listener = Deno.listen({ port: options.port ?? 8000, hostname: "0.0.0.0", transport: "tcp" });
  while (true) {
    answer(await listener.accept(), handler);
  }
}
