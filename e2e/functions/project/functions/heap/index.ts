Deno.serve(() => {
  const kept: number[][] = [];
  while (true) {
    kept.push(Array.from({ length: 100_000 }, (_, index) => index + kept.length + 0.5));
  }
});
