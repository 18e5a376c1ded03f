import { Hono } from "hono";

const app = new Hono();
app.all("*", (context) => context.text("through package.json"));

Deno.serve(app.fetch);
