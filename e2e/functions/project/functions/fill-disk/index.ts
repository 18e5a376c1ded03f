Deno.serve(async () => {
  const block = new Uint8Array(1024 * 1024);
  for (let index = 0; ; index += 1) {
    await Deno.writeFile(`/tmp/${index}`, block);
    await new Promise((wake) => setTimeout(wake, 5));
  }
});
