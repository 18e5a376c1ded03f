const denied = (action: () => unknown) => {
  try {
    action();
    return "allowed";
  } catch (error) {
    return (error as Error).name;
  }
};

Deno.serve(async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile("/tmp/note.txt", "kept");
  const outside = await Deno.readTextFile("/etc/passwd").then(() => "allowed", (error) => error.name);
  return Response.json({
    env: Deno.env.toObject(),
    args: Deno.args,
    version: Deno.version.deno,
    file,
    note: await Deno.readTextFile("/tmp/note.txt"),
    own: (await Deno.readTextFile(new URL("./index.ts", import.meta.url))).length > 0,
    outside,
    program: denied(() => new Deno.Command("id").outputSync()),
    rename: denied(() => Deno.renameSync("/tmp/note.txt", "/tmp/other.txt")),
    sync: denied(() => Deno.statSync("/tmp/note.txt")),
    exit: denied(() => Deno.exit(3)),
    worker: typeof Worker,
  });
});
