Deno.serve(() => {
  while (true) {
    Math.random();
  }
});
