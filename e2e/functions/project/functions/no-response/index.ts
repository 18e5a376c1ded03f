Deno.serve((() => undefined) as unknown as Deno.ServeHandler);
