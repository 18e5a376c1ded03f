Deno.serve({
  handler: () => {
    throw new Error("left to onError");
  },
  onError: (error) => Response.json({ caught: (error as Error).message }, { status: 418 }),
  onListen: ({ hostname, port }) => console.log(`listening at ${hostname}:${port}`),
});
