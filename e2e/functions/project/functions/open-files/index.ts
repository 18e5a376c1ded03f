// Opens files, and with very many of them does not come back.
const files: Deno.FsFile[] = [];

Deno.serve(async (request) => {
  const count = Number(new URL(request.url).searchParams.get("count"));
  await Deno.writeTextFile("/tmp/file", "");
  for (let number = 0; number < count; number++) {
    files.push(await Deno.open("/tmp/file"));
  }
  return count > 1000 ? new Promise(() => {}) : Response.json({ files: files.length });
});
