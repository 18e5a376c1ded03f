Deno.serve(async () => {
  const kept: Uint8Array[] = [];
  while (true) {
    kept.push(new Uint8Array(8 * 1024 * 1024).fill(kept.length));
    await new Promise((wake) => setTimeout(wake, 5));
  }
});
