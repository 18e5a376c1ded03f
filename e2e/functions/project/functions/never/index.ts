Deno.serve(() => new Promise<Response>(() => {}));
